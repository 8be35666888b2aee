/**
 * The approval gate for tool calls: rules and grants decide first, the approval prompt decides the remaining calls.
 *
 * @module
 */

import type {
  ApprovalDecision,
  ApprovalGateState,
  ApprovalMode,
  TrustGrant,
} from "../../core/approval.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../core/approve.ts";
import { needsApproval } from "../../core/tool.ts";
import {
  type ApprovalRule,
  createRuledCall,
  parseApprovalRule,
  pathHasPrefix,
  type RuledCall,
  scriptHasPrefix,
} from "./approval_rules.ts";
import { assessScript, type CommandAssessment } from "./command_assessment.ts";
import type { Concern } from "./command_rules.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** A call submitted to the approval prompt. */
export interface GateRequest extends ApprovalRequest {
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
  /** Whether read-only commands are approved without a prompt in `"smart"` mode. Default: `false`. */
  readonly allowHarmless?: boolean | undefined;
  /**
   * Sandbox of the commands. While it is not confined, neither a rule `bash` without a pattern nor trust in the tool
   * covers a command, and `allowHarmless` has no effect. Default: commands are assumed to be confined.
   */
  readonly sandbox?: Pick<Sandbox, "describe"> | undefined;
}

export type { ApprovalGateState, TrustGrant };

/** An approval gate, for the `approve` option of an agent. */
export interface ApprovalGate extends ApprovalGateState {
  /** Decides a call; a decision has its `origin` and, if a rule or a grant decided, the `rule`. */
  (request: ApprovalRequest): Promise<ApprovalDecision | { readonly type: "pending" }>;
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
 *   ask: ({ name, changes }) => confirm(`${name}? ${changes?.map(({ diff }) => diff).join("\n") ?? ""}`),
 * });
 * ```
 */
export function approvalGate(options: ApprovalGateOptions = {}): ApprovalGate {
  const state: GateState = {
    mode: options.mode ?? "smart",
    trusted: [],
    allow: (options.allow ?? []).map(parseApprovalRule),
    deny: (options.deny ?? []).map(parseApprovalRule),
    options,
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
    trust: { value: (grant: TrustGrant) => state.trusted.push(grant) },
    clearTrust: { value: () => state.trusted.splice(0) },
  }) as ApprovalGate;
}

interface GateState {
  mode: ApprovalMode;
  readonly trusted: TrustGrant[];
  readonly allow: readonly ApprovalRule[];
  readonly deny: readonly ApprovalRule[];
  readonly options: ApprovalGateOptions;
}

type GateAnswer = ApprovalDecision | { readonly type: "pending" };

async function decideCall(state: GateState, request: ApprovalRequest): Promise<GateAnswer> {
  const { name, arguments: args, tool } = request;
  const call = createRuledCall(name, args);
  const denial = findDenial(state.deny, call);
  if (denial) return denial;
  const { mode } = state;
  if (mode === "bypassed" || (mode === "smart" && !needsApproval(tool, args))) {
    return { type: "approved", origin: "mode" };
  }
  const trustsTool = name !== "bash" || await isConfined(state.options.sandbox);
  const allowRule = state.allow.find((rule) =>
    rule.covers(call) && (trustsTool || !rule.coversTool)
  );
  if (allowRule) return createRuleApproval(allowRule.source);
  const assessment = name === "bash" && call.script ? assessScript(call.script) : undefined;
  const trusted = state.trusted.filter(({ type }) => trustsTool || type !== "tool");
  const grant = findGrant(trusted, call, assessment);
  if (grant) return createRuleApproval(formatGrant(grant));
  if (await isAllowedAsHarmless(state, assessment)) return createRuleApproval("allowHarmless");
  return await requestApproval(state, assessment ? { ...request, assessment } : request);
}

function findDenial(rules: readonly ApprovalRule[], call: RuledCall): GateAnswer | undefined {
  for (const { source, concerns } of rules) {
    const reason = getDenialReason(source, concerns(call));
    if (reason !== undefined) return createDenial(reason, { rule: source, origin: "rule" });
  }
  return undefined;
}

function getDenialReason(rule: string, concern: Concern): string | undefined {
  switch (concern) {
    case "none":
      return undefined;
    case "possible":
      return `The rule ${rule} may forbid this call, whose effect is not certain. Name programs, arguments and paths as they are, without expansions.`;
    case "certain":
      return `The rule ${rule} forbids this call.`;
  }
}

function createRuleApproval(rule: string): GateAnswer {
  return { type: "approved", rule, origin: "rule" };
}

/** Formats a grant like a rule. */
function formatGrant(grant: TrustGrant): string {
  if (grant.type === "tool") return grant.name;
  return `${grant.name}(${grant.prefix}${grant.name === "bash" ? " *" : "/**"})`;
}

/** Finds the grant that covers a call. No grant covers a dangerous command. */
function findGrant(
  trusted: readonly TrustGrant[],
  { name, arguments: args, script }: RuledCall,
  assessment: CommandAssessment | undefined,
): TrustGrant | undefined {
  if (assessment?.verdict === "dangerous") return undefined;
  return trusted.find((grant) => {
    if (grant.name !== name) return false;
    if (grant.type === "tool") return true;
    if (script) return scriptHasPrefix(script, grant.prefix);
    return typeof args.path === "string" && pathHasPrefix(args.path, grant.prefix);
  });
}

async function isAllowedAsHarmless(
  { mode, options }: GateState,
  assessment: CommandAssessment | undefined,
): Promise<boolean> {
  return mode === "smart" && options.allowHarmless === true &&
    assessment?.verdict === "harmless" && await isConfined(options.sandbox);
}

async function isConfined(sandbox: ApprovalGateOptions["sandbox"]): Promise<boolean> {
  return sandbox === undefined || (await sandbox.describe()).confined;
}

async function requestApproval(state: GateState, request: GateRequest): Promise<GateAnswer> {
  const { ask, sandbox } = state.options;
  if (!ask) {
    const reason = "This call needs approval, and no approval prompt is configured.";
    return createDenial(reason, { origin: "mode" });
  }
  const decision = await promptForDecision(ask, request);
  if (decision.type !== "approved") return decision;
  const { scope = "once", prefix } = decision;
  const { name } = request;
  const canTrustTool = name !== "bash" || await isConfined(sandbox);
  if (scope === "tool" && canTrustTool) state.trusted.push({ type: "tool", name });
  if (scope === "prefix" && prefix) state.trusted.push({ type: "prefix", name, prefix });
  return decision;
}

async function promptForDecision(
  ask: ApprovalPrompt,
  request: GateRequest,
): Promise<GateAnswer> {
  try {
    const answer = await ask(request);
    const origin = "person";
    if (typeof answer === "boolean") return { type: answer ? "approved" : "denied", origin };
    return answer.type === "pending" ? answer : { origin, ...answer };
  } catch {
    return createDenial("The approval prompt failed.");
  }
}

function createDenial(
  reason: string,
  source: Pick<ApprovalDecision, "rule" | "origin"> = {},
): GateAnswer {
  return { type: "denied", reason, ...source };
}
