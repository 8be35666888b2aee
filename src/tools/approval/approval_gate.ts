/**
 * The approval gate for tool calls: rules, classes and grants decide first, the approval prompt decides the remaining
 * calls.
 *
 * @module
 */

import type {
  ApprovalDecision,
  ApprovalGateState,
  ApprovalMode,
  TrustGrant,
} from "../../core/approval/approval.ts";
import { RISK_CLASSES, type RiskClass } from "../../core/approval/risk.ts";
import { checkFunction } from "../../core/checks/check_function.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../core/hooks/approve.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import { validateToolArguments } from "../../core/schemas/validate_tool_arguments.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { toDecision } from "../../loop/tool_calls/to_decision.ts";
import { getShellPlaces } from "../kit/tool_marks.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { AskCause, CallExplanation, ExplainedRequest } from "./call_explanation.ts";
import type { CommandAssessment } from "./command_assessment.ts";
import { explainCall, explainDenial, findMove } from "./explain_call.ts";
import { isConfined } from "./find_approval.ts";
import type { ClassGate } from "./gate_rules.ts";
import { type CompiledRules, compileRuleSets, type RuleSet } from "./rules/rule_set.ts";
import { defineServerTool, isRedefined } from "./rules/server_tools.ts";

/** A call submitted to the approval prompt. */
export interface GateRequest extends ApprovalRequest {
  /** The risk class of the call. */
  readonly risk: RiskClass;
  /** The cause of the question. */
  readonly cause: AskCause;
  /** Why it needs approval, as a sentence. */
  readonly reason: string;
  /** Assessment of a `bash` command. */
  readonly assessment?: CommandAssessment;
}

/**
 * Asks for a decision; `true` approves the call once, `false` denies it, `{ type: "pending" }` leaves it for later. An
 * error denies it too.
 */
export type ApprovalPrompt = (request: GateRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;

/** Options for {@linkcode approvalGate}. */
export interface ApprovalGateOptions {
  /** Calls that need approval. Default: `"smart"`. */
  readonly mode?: ApprovalMode | undefined;
  /**
   * Asks for a decision, whose `origin` is `person` unless it has another one: a program that decides by itself sets
   * `rule` or `policy`. Default: the call is denied.
   */
  readonly ask?: ApprovalPrompt | undefined;
  /** Rules for calls that are approved without a prompt: `"read_file"`, `"edit_file(src/**)"`, `"bash(npm test)"`. */
  readonly allow?: readonly string[] | undefined;
  /** Rules for calls that are always denied, in every mode. For `bash`, one matching part of a command is enough. */
  readonly deny?: readonly string[] | undefined;
  /** Rules from files, in addition to `allow` and `deny`; a denial of any set wins. */
  readonly rules?: readonly RuleSet[] | undefined;
  /**
   * Gates by risk class. `deny`: denied in every mode. `ask` and `auto` apply in the mode `smart`: submitted to the prompt
   * unless a rule or grant allows the call; approved. `auto` for `bash` needs a confined sandbox. Default: what the tool
   * requires (`AgentTool.requiresApproval`); commands of the class `read` are `auto` with a sandbox.
   */
  readonly classes?: Readonly<Partial<Record<RiskClass, ClassGate>>> | undefined;
  /**
   * Sandbox of the commands. While it is not confined, neither a rule `bash` without a pattern nor trust in the tool nor a
   * class covers a command. Its `files` resolve the paths of calls: a rule for a path applies to the file behind a link.
   * Default: commands are assumed to be confined, and rules compare paths as they are written.
   */
  readonly sandbox?: (Pick<Sandbox, "describe"> & Partial<Pick<Sandbox, "files">>) | undefined;
}

export type { ApprovalGateState, TrustGrant };

/** An approval gate, for the `approve` option of an agent. */
export interface ApprovalGate extends ApprovalGateState {
  /** Decides a call; a decision has its `origin` and, if a rule or a grant decided, the `rule` and its source. */
  (request: ApprovalRequest): Promise<ApprovalDecision | { readonly type: "pending" }>;
  /** Returns what the gate would decide about a call, or that it would ask and why. Does not ask. */
  explain(request: ExplainedRequest): Promise<CallExplanation>;
  /**
   * Notes a call that was approved in another way, which may change the directory of the shell; a decision with a scope
   * becomes a grant.
   */
  onApproved(request: ExplainedRequest, decision?: ApprovalDecision): void;
}

/**
 * Creates a gate. It keeps the grants of the session and fails closed: without a prompt, and when the prompt fails,
 * calls are denied.
 *
 * @throws {BadRequestError} When a rule is invalid.
 *
 * @example
 * ```ts
 * import { approvalGate } from "@swink/agent/tools";
 *
 * const gate = approvalGate({
 *   mode: "smart",
 *   allow: ["bash(deno test *)"],
 *   classes: { network: "deny" },
 *   ask: ({ name, changes }) => confirm(`${name}? ${changes?.map(({ diff }) => diff).join("\n") ?? ""}`),
 * });
 * ```
 */
export function approvalGate(options: ApprovalGateOptions = {}): ApprovalGate {
  checkOptions(options);
  const { allow, deny, rules = [], classes = {}, sandbox } = options;
  const state: GateState = {
    mode: options.mode ?? "smart",
    trusted: [],
    definitions: new Map(),
    grantDefinitions: new WeakMap(),
    rules: compileRuleSets([{ allow, deny }, ...rules]),
    classes,
    sandbox,
    ask: options.ask,
    moves: { any: false, unknown: false },
  };
  const gate = (request: ApprovalRequest) => decideCall(state, request);
  return Object.defineProperties(gate, {
    mode: {
      get: () => state.mode,
      set: (mode: ApprovalMode) => {
        state.mode = mode;
      },
    },
    trusted: { get: () => [...state.trusted] },
    trust: {
      value: (grant: TrustGrant) => trustGrant(state, checkGrant(grant)),
    },
    clearTrust: { value: () => state.trusted.splice(0) },
    explain: { value: (request: ExplainedRequest) => explainCall(state, request) },
    onApproved: {
      value: (request: ExplainedRequest, decision?: ApprovalDecision) => {
        noteMove(state, request);
        if (decision?.type === "approved") addGrant(state, request, decision);
      },
    },
  }) as ApprovalGate;
}

const OPTIONS = ["mode", "ask", "allow", "deny", "rules", "classes", "sandbox"];
const MODES: readonly unknown[] = [undefined, "always", "enabled", "smart", "bypassed"];
const CLASS_GATES: readonly unknown[] = [undefined, "auto", "ask", "deny"];

/** Checks what the compiler does not check for JavaScript and for configuration files. */
function checkOptions(options: ApprovalGateOptions): void {
  checkNames(options, OPTIONS, "approvalGate()");
  const { mode, classes = {}, ask } = options;
  if (ask !== undefined) checkFunction("ask", ask);
  for (const name of ["allow", "deny", "rules"] as const) checkList(name, options[name]);
  if (!MODES.includes(mode)) {
    throw new BadRequestError(
      `mode must be "always", "smart" or "bypassed", not ${describeValue(mode)}`,
    );
  }
  checkNames(classes, RISK_CLASSES, "classes");
  for (const [name, gate] of Object.entries(classes)) {
    if (CLASS_GATES.includes(gate)) continue;
    throw new BadRequestError(
      `classes.${name} must be "auto", "ask" or "deny", not ${describeValue(gate)}`,
    );
  }
}

function checkList(name: "allow" | "deny" | "rules", list: unknown): void {
  if (list === undefined || Array.isArray(list)) return;
  const kind = name === "rules" ? "rule sets" : "rules";
  throw new BadRequestError(`${name} must be an array of ${kind}, not ${describeValue(list)}`);
}

/** Checks a grant, which may come from a file: a later call could not be decided with another value. */
function checkGrant(grant: TrustGrant): TrustGrant {
  const { type, name, ...rest }: Partial<TrustGrant> = grant ?? {};
  const isPrefix = type === "prefix" && "prefix" in rest && typeof rest.prefix === "string";
  if (typeof name === "string" && (type === "tool" || isPrefix)) return grant;
  throw new BadRequestError(
    'A grant must be { type: "tool", name } or { type: "prefix", name, prefix }',
  );
}

/** Adds a grant of a program, which is for any definition of the tool unless it is one that a person has made. */
function trustGrant(
  { trusted, definitions, grantDefinitions }: GateState,
  grant: TrustGrant,
): void {
  trusted.push(grant);
  const definition = grantDefinitions.get(grant);
  if (definition === undefined) definitions.delete(grant.name);
  else definitions.set(grant.name, definition);
}

interface GateState {
  mode: ApprovalMode;
  readonly trusted: TrustGrant[];
  readonly definitions: Map<string, string>;
  /** The definition of the tool of each grant of a person, which a program may remove and add again. */
  readonly grantDefinitions: WeakMap<TrustGrant, string>;
  readonly rules: CompiledRules;
  readonly classes: NonNullable<ApprovalGateOptions["classes"]>;
  readonly sandbox: ApprovalGateOptions["sandbox"];
  readonly ask: ApprovalPrompt | undefined;
  readonly moves: { any: boolean; unknown: boolean };
}

type GateAnswer = ApprovalDecision | { readonly type: "pending" };

async function decideCall(state: GateState, request: ApprovalRequest): Promise<GateAnswer> {
  const answer = await decideOrAsk(state, request);
  if (answer.type === "denied") return answer;
  // A pending call may be approved later, and then runs before the calls that the gate decides about next.
  const edited = answer.type === "approved" ? answer.arguments : undefined;
  noteMove(state, { ...request, arguments: edited ?? request.arguments });
  return answer;
}

/** Notes a call that may change the directory of the shell. */
function noteMove(state: GateState, request: ExplainedRequest): void {
  const script = findMove(request);
  if (!script) return;
  state.moves.any = true;
  const places = getShellPlaces(request.tool);
  if (!places) {
    state.moves.unknown = true;
    return;
  }
  const { command } = request.arguments;
  const text = typeof command === "string" ? command : undefined;
  places.noteMove({ text, commands: script.commands }, request.path);
}

async function decideOrAsk(state: GateState, request: ApprovalRequest): Promise<GateAnswer> {
  const { decision, risk, assessment } = await explainCall(state, request);
  if (decision.type !== "asked") return decision;
  const { cause, reason } = decision;
  return await requestApproval(state, {
    ...request,
    risk,
    cause,
    reason,
    ...(assessment && { assessment }),
  });
}

async function requestApproval(state: GateState, request: GateRequest): Promise<GateAnswer> {
  const { ask, sandbox } = state;
  if (!ask) {
    const reason = "This call needs approval, and no approval prompt is configured.";
    return { type: "denied", reason, origin: "mode" };
  }
  const decision = await promptForDecision(ask, request);
  if (decision.type !== "approved") return decision;
  if (request.signal.aborted) {
    return { type: "denied", reason: "The decision came too late.", origin: "mode" };
  }
  const { scope = "once", arguments: edited } = decision;
  // No deny rule has seen edited arguments.
  const denial = edited && await explainDenial(state, { ...request, arguments: edited });
  if (denial) return denial;
  const { name, tool } = request;
  if (edited && !await isAccepted(tool, edited)) return decision;
  const canTrustTool = name !== "bash" || await isConfined(sandbox);
  if (scope !== "tool" || canTrustTool) addGrant(state, request, decision);
  return decision;
}

/** Whether a tool accepts edited arguments; the loop refuses others, with the reason. */
async function isAccepted({ parameters }: AgentTool, args: JsonObject): Promise<boolean> {
  try {
    return (await validateToolArguments(parameters, args)).valid;
  } catch {
    return false;
  }
}

/** Adds the grant of an approval that is for more than one call, once. */
function addGrant(
  { trusted, definitions, grantDefinitions }: GateState,
  { name, tool }: ExplainedRequest,
  decision: Approval,
): void {
  const grant = toGrant(tool, name, decision);
  if (!grant) return;
  if (isRedefined(definitions, tool)) {
    trusted.splice(0, trusted.length, ...trusted.filter((known) => known.name !== name));
  }
  if (!trusted.some((known) => isJsonEqual(known, grant))) trusted.push(grant);
  const definition = defineServerTool(tool);
  definitions.set(name, definition);
  for (const known of trusted) if (known.name === name) grantDefinitions.set(known, definition);
}

type Approval = Extract<ApprovalDecision, { type: "approved" }>;

function toGrant(
  { readOnly }: AgentTool,
  name: string,
  { scope, prefix = "" }: Approval,
): TrustGrant | undefined {
  switch (scope) {
    case "tool":
      return { type: "tool", name, ...(readOnly === true && { readOnly }) };
    case "prefix":
      return prefix.trim() === "" ? undefined : { type: "prefix", name, prefix };
    default:
      return undefined;
  }
}

async function promptForDecision(
  ask: ApprovalPrompt,
  request: GateRequest,
): Promise<GateAnswer> {
  try {
    const answer = await ask(request);
    const origin = "person";
    if (typeof answer === "boolean") return { type: answer ? "approved" : "denied", origin };
    if (answer.type === "pending") return answer;
    // As the loop reads it: a decision that it refuses grants nothing.
    return toDecision({ origin, ...answer });
  } catch {
    return { type: "denied", reason: "The approval prompt failed.", origin: "mode" };
  }
}
