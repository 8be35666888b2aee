/**
 * Decides about a tool call by rules, modes, classes and grants, before a person is asked.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalMode, TrustGrant } from "../../core/approval/approval.ts";
import { getRisk, type RiskClass } from "../../core/approval/risk.ts";
import { cloneJson, isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { needsApproval } from "../../core/tools/needs_approval.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { getShellPlaces, isHidingSecrets } from "../kit/tool_marks.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { assessScript, type CommandAssessment } from "./command_assessment.ts";
import {
  type ExecutedCommands,
  findExecutedCommands,
  mayChangeDirectory,
} from "./commands/executed_commands.ts";
import type { Concern } from "./patterns/concern.ts";
import { findWorkingDirectory } from "./patterns/path_rules.ts";
import { findStepwiseSearch } from "./reads/stepwise_searches.ts";
import { mayReadUnknownFiles } from "./reads/unknown_reads.ts";
import type { ScriptPlace, WideSearch } from "./reads/wide_searches.ts";
import {
  callHasPrefix,
  createRuledCall,
  findCoveringRules,
  getHarmlessPart,
  parsePrefix,
  type RuledCall,
} from "./rules/approval_rules.ts";
import { followRuleLinks } from "./rules/linked_rules.ts";
import type { CompiledRules, SourcedRule } from "./rules/rule_set.ts";
import { isRedefined } from "./rules/server_tools.ts";

/** The treatment of the calls of a risk class: approved, submitted to the prompt unless a rule or grant allows them, denied. */
export type ClassGate = "auto" | "ask" | "deny";

/** A tool call to explain. */
export interface ExplainedRequest {
  /** Ids of the tool calls that lead to the agent whose call this is. Default: it is one of the agent itself. */
  readonly path?: readonly string[] | undefined;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly arguments: JsonObject;
  /** The tool. */
  readonly tool: AgentTool;
}

/** The decision of a gate on a call, or that it asks. */
export interface CallExplanation {
  /** The decision; `asked` if the call is submitted to the prompt. */
  readonly decision: ApprovalDecision | AskedDecision;
  /** The risk class of the call. */
  readonly risk: RiskClass;
  /** Assessment of a `bash` command. */
  readonly assessment?: CommandAssessment;
}

/**
 * The cause of a question about a call: a rule, a change of its tool, the effects of its command, or what it has in common with
 * other calls, its class or the mode.
 */
export type AskCause = "rule" | "tool" | "command" | "class" | "mode";

/** A call is submitted to the prompt. */
export interface AskedDecision {
  readonly type: "asked";
  /** The cause of the question. */
  readonly cause: AskCause;
  /** The reason, as a sentence. */
  readonly reason: string;
  /** The rule that asks, if one does, or the class that does, such as `write: ask`. */
  readonly rule?: string;
  /** Where the rule is written. */
  readonly ruleSource?: string;
}

/** The parts of a sandbox that a gate uses. */
export type GateSandbox = Pick<Sandbox, "describe"> & Partial<Pick<Sandbox, "files">>;

/** The state of a gate on which its decisions depend. */
export interface GateRules {
  readonly mode: ApprovalMode;
  readonly rules: CompiledRules;
  readonly classes: Readonly<Partial<Record<RiskClass, ClassGate>>>;
  readonly trusted: readonly TrustGrant[];
  /** The definitions by name that tools had when a person trusted them. */
  readonly definitions: ReadonlyMap<string, string>;
  readonly sandbox: GateSandbox | undefined;
  /** Which approved commands may have changed the working directory. */
  readonly moves: ApprovedMoves;
}

/** Which of the approved commands may have changed the directory of a shell. */
export interface ApprovedMoves {
  /** Whether any has. */
  readonly any: boolean;
  /** Whether one has of a tool whose shells are not known, as those of a copy. */
  readonly unknown: boolean;
}

/** Decides about a call. */
export async function explainCall(
  gateRules: GateRules,
  request: ExplainedRequest,
): Promise<CallExplanation> {
  const gate = await withLinkedRules(gateRules);
  const assessed = await assessCall(gate, request);
  const { risk, assessment } = assessed;
  const decision = findDenial(gate, assessed) ?? await findApproval(gate, assessed) ??
    await explainQuestion(gate, assessed);
  return { decision, risk, ...(assessment && { assessment }) };
}

/** Returns the denial of a call by a rule or its class. */
export async function explainDenial(
  gate: GateRules,
  request: ExplainedRequest,
): Promise<ApprovalDecision | undefined> {
  return findDenial(await withLinkedRules(gate), await assessCall(gate, request));
}

/** Adds the rules for files behind links, if the sandbox resolves the paths of calls. */
async function withLinkedRules(gate: GateRules): Promise<GateRules> {
  const { rules, sandbox } = gate;
  if (!sandbox?.files) return gate;
  return {
    ...gate,
    rules: await followRuleLinks(rules, await findWorkingDirectory(sandbox.files)),
  };
}

async function assessCall(
  { sandbox, moves }: GateRules,
  { path: agentPath, name, arguments: args, tool }: ExplainedRequest,
): Promise<AssessedCall> {
  const created = await createRuledCall({ name, arguments: args }, sandbox?.files);
  const { path } = created;
  const isExcluding = canExclude(tool);
  const call = {
    ...created,
    path: path && !isExcluding ? { ...path, excluded: new Set<string>() } : path,
    isMoved: moves.unknown || (getShellPlaces(tool)?.isMoved(agentPath) ?? moves.any),
  };
  const risk = await getRisk(tool, args);
  const { script } = call;
  const assessment = script && assessScript(script);
  const search = script && sandbox?.files &&
    await findStepwiseSearch(script, {
      source: typeof args.command === "string" ? args.command : "",
      files: sandbox.files,
      ...findPlace(tool, agentPath),
    });
  return { call, tool, risk, assessment, search };
}

/** Finds where the shell of an agent may be when a call runs, and the commands that may move it before. */
function findPlace(
  tool: AgentTool,
  path: readonly string[] | undefined,
): Omit<ScriptPlace, "files"> {
  const places = getShellPlaces(tool);
  return { directories: places?.listDirectories(path), earlier: places?.listMoves(path) };
}

/** Whether a tool leaves out the paths that its argument `exclude_paths` names. */
function canExclude({ parameters }: AgentTool): boolean {
  const { properties } = parameters;
  return isJsonObject(properties) && Object.hasOwn(properties, "exclude_paths");
}

interface AssessedCall {
  readonly call: RuledCall;
  readonly tool: AgentTool;
  readonly risk: RiskClass;
  readonly assessment: CommandAssessment | undefined;
  /** How a command may show all files of a directory. */
  readonly search: WideSearch | undefined;
}

function findDenial(
  { rules, classes }: GateRules,
  { call, tool, risk }: AssessedCall,
): ApprovalDecision | undefined {
  const hiding: SourcedRule[] = [];
  for (const rule of rules.deny) {
    const concern = rule.concerns(call);
    const reason = getDenialReason(rule.source, concern, call);
    if (reason !== undefined) return { type: "denied", reason, ...nameRule(rule) };
    if (concern === "below") hiding.push(rule);
  }
  const [first] = hiding;
  if (first) {
    const reason = `The rule ${first.source} forbids files below this directory. ${
      formatExclusion({ call, tool }, hiding)
    }`;
    return { type: "denied", reason, ...nameRule(first) };
  }
  if (classes[risk] !== "deny") return undefined;
  const reason = `Calls of the class "${risk}" are denied.`;
  return { type: "denied", reason, ...nameClass(risk, "deny") };
}

function getDenialReason(
  rule: string,
  concern: Concern,
  { isMoved, script }: RuledCall,
): string | undefined {
  switch (concern) {
    case "none":
    case "below": // Reported once, for all rules.
      return undefined;
    case "possible": {
      const advice = isMoved && script
        ? " An earlier command may have changed the working directory: name absolute paths."
        : "";
      return `The rule ${rule} may forbid this call, whose effect is not certain. Name programs, arguments and paths as they are, without expansions.${advice}`;
    }
    case "certain":
      return `The rule ${rule} forbids this call.`;
  }
}

/** Formats how a search or list leaves out the files that rules are for. */
function formatExclusion(
  { call, tool }: Pick<AssessedCall, "call" | "tool">,
  rules: readonly SourcedRule[],
): string {
  if (!canExclude(tool)) return "Name another directory.";
  const { exclude_paths: given } = call.arguments;
  const patterns = [...Array.isArray(given) ? given : [], ...rules.map(({ pattern }) => pattern)];
  const excluded = JSON.stringify([...new Set(patterns)]);
  return `Leave them out with exclude_paths: ${excluded}, or name another directory.`;
}

type DecisionSource = Pick<ApprovalDecision, "rule" | "ruleSource" | "origin">;

function nameRule({ source, ruleSource }: SourcedRule): DecisionSource {
  return { rule: source, ...(ruleSource !== undefined && { ruleSource }), origin: "rule" };
}

function nameClass(risk: RiskClass, gate: ClassGate): DecisionSource {
  return { rule: `${risk}: ${gate}`, origin: "rule" };
}

/** Finds what approves a call: the mode, the gate of its class, a rule or a grant. */
async function findApproval(
  gate: GateRules,
  assessed: AssessedCall,
): Promise<ApprovalDecision | undefined> {
  const { mode, rules } = gate;
  if (mode === "bypassed") return { type: "approved", origin: "mode" };
  const { granted, asking } = await findGrantOrAskRule(gate, assessed);
  if (granted || asking) return granted;
  const automatic = mode === "smart" ? await findClassApproval(gate, assessed) : undefined;
  if (automatic) return automatic;
  const conditioned = await addConditions(gate, assessed);
  const { call } = conditioned;
  const allowed = rules.allow.find((rule) =>
    rule.covers(call) && (call.isConfined || !rule.coversTool)
  );
  if (allowed) return { type: "approved", ...nameRule(allowed) };
  return findJointApproval([...rules.allow, ...listCommandGrants(gate)], conditioned);
}

/** Adds under which conditions rules and grants cover a call. All of `bash` is trusted only while the sandbox confines it. */
async function addConditions(gate: GateRules, assessed: AssessedCall): Promise<AssessedCall> {
  const { call, search } = assessed;
  const conditions = {
    isConfined: call.name !== "bash" || await isConfined(gate.sandbox),
    isSearch: search !== undefined && gate.classes.read !== "auto",
  };
  return { ...assessed, call: { ...call, ...conditions } };
}

/** The approval of a call by grants, or the rule that asks about it; neither if nothing of both kinds concerns it. */
interface GrantOrAskRule {
  readonly granted?: ApprovalDecision | undefined;
  readonly asking?: SourcedRule | undefined;
}

/**
 * Finds the grants that approve a call, or the rule that asks about it. Grants for commands decide before a rule about these,
 * and not about the harmless ones of the same call.
 */
async function findGrantOrAskRule(gate: GateRules, given: AssessedCall): Promise<GrantOrAskRule> {
  const assessed = await addConditions(gate, given);
  const { call } = assessed;
  const grant = findGrant(gate, assessed);
  const granted = grant
    ? approveByGrant(grant)
    : findJointApproval(listCommandGrants(gate), assessed);
  const asking = granted
    ? grant?.type !== "tool" && findAskRuleForRest(gate, call) || undefined
    : gate.rules.ask.find((rule) => rule.concerns(call) !== "none");
  return asking ? { asking } : { granted };
}

function approveByGrant(grant: TrustGrant): ApprovalDecision {
  return { type: "approved", rule: formatGrant(grant), ruleSource: "session", origin: "rule" };
}

/**
 * Finds the rule that asks about the commands of a call besides those that grants are for. A rule for all commands is about
 * the call, which a person has granted.
 */
function findAskRuleForRest(gate: GateRules, call: RuledCall): SourcedRule | undefined {
  const rest = getHarmlessPart(listCommandGrants(gate), call);
  return rest && gate.rules.ask.find((rule) => !rule.coversTool && rule.concerns(rest) !== "none");
}

/** Lists the grants for the beginnings of commands, which may together cover a command. */
function listCommandGrants({ trusted }: GateRules): readonly CommandRule[] {
  return trusted.flatMap((grant) =>
    grant.name === "bash" && grant.type === "prefix"
      ? {
        source: formatGrant(grant),
        ruleSource: "session",
        commands: parsePrefix(grant.prefix),
      }
      : []
  );
}

/** Finds the rules and grants that together approve the commands of a call. A dangerous command needs one for all of it. */
function findJointApproval(
  rules: readonly CommandRule[],
  { call, assessment }: AssessedCall,
): ApprovalDecision | undefined {
  if (assessment?.verdict === "dangerous") return undefined;
  const covering = findCoveringRules(rules, call);
  if (covering.length === 0) return undefined;
  const sources = covering.some(({ ruleSource }) => ruleSource !== undefined)
    ? new Set(covering.map(({ ruleSource = "options" }) => ruleSource))
    : undefined;
  return {
    type: "approved",
    rule: covering.map(({ source }) => source).join(", "),
    ...(sources && { ruleSource: [...sources].join(", ") }),
    origin: "rule",
  };
}

type CommandRule = Pick<SourcedRule, "source" | "ruleSource" | "commands">;

/** Finds the approval of the gate of the call's class, or of the tool, in the mode `smart`. */
async function findClassApproval(
  { classes, sandbox }: GateRules,
  { call, tool, risk, assessment, search }: AssessedCall,
): Promise<ApprovalDecision | undefined> {
  const { [risk]: gate } = classes;
  if (gate === "ask") return undefined;
  if (call.name !== "bash") {
    if (gate === "auto") return { type: "approved", ...nameClass(risk, "auto") };
    return requiresApproval(tool, call.arguments)
      ? undefined
      : { type: "approved", origin: "mode" };
  }
  if (assessment?.verdict === "dangerous" || (search && gate !== "auto")) return undefined;
  // Its sandbox blocks all writes and the network, or refuses to run commands, but may not hide all secrets.
  if (tool.readOnly === true && call.script && !mayReadSecrets(call.script, tool)) {
    return { type: "approved", origin: "mode" };
  }
  // The class of a command is read from its text, which the sandbox must enforce.
  const isAutomatic = gate === "auto" || (risk === "read" && sandbox !== undefined);
  if (!isAutomatic || !await isConfined(sandbox)) return undefined;
  return { type: "approved", ...nameClass(risk, "auto") };
}

function mayReadSecrets(script: ExecutedCommands, tool: AgentTool): boolean {
  return mayReadUnknownFiles(script, { hidesSecrets: isHidingSecrets(tool) });
}

/** Whether a tool requires approval; also if it throws or returns no boolean, as in the mode `smart` of an agent. */
function requiresApproval(tool: AgentTool, args: JsonObject): boolean {
  try {
    const required: unknown = needsApproval(tool, cloneJson(args));
    return required !== false;
  } catch {
    return true;
  }
}

async function explainQuestion(
  gate: GateRules,
  assessed: AssessedCall,
): Promise<AskedDecision> {
  const { mode, rules, classes, trusted, definitions } = gate;
  const { call, tool, risk, assessment, search } = assessed;
  const { asking: rule } = await findGrantOrAskRule(gate, assessed);
  if (rule) {
    const { rule: source, ruleSource } = nameRule(rule);
    const nested = rules.ask.filter((candidate) => candidate.concerns(call) === "below");
    const reason = rule.concerns(call) === "below"
      ? `The rule ${rule.source} requires approval for files below this directory. ${
        formatExclusion({ call, tool }, nested)
      }`
      : `The rule ${rule.source} requires approval.`;
    return {
      type: "asked",
      cause: "rule",
      reason,
      ...(source !== undefined && { rule: source }),
      ...(ruleSource !== undefined && { ruleSource }),
    };
  }
  if (isRedefined(definitions, tool) && trusted.some(({ name }) => name === tool.name)) {
    const reason = "The tool has changed since it was trusted in this session.";
    return { type: "asked", cause: "tool", reason };
  }
  if (mode === "smart" && assessment?.verdict === "dangerous") {
    const reason = `The command is dangerous. ${assessment.reasons.join(" ")}`;
    return { type: "asked", cause: "command", reason };
  }
  if (search && await isAskedAsSearch(gate, assessed)) {
    return { type: "asked", cause: "command", reason: SEARCH_REASONS[search] };
  }
  const readsUnknown = tool.readOnly === true && call.script && mayReadSecrets(call.script, tool);
  if (mode === "smart" && readsUnknown) {
    const reason =
      "The command may read files with secrets: it does not name all files that it reads.";
    return { type: "asked", cause: "command", reason };
  }
  if (
    call.isMoved && await findApproval(gate, { ...assessed, call: { ...call, isMoved: false } })
  ) {
    const reason =
      "An earlier command may have changed the working directory, to which the path of the program is relative.";
    return { type: "asked", cause: "command", reason };
  }
  if (classes[risk] === "ask") {
    const { rule: source } = nameClass(risk, "ask");
    const reason = `Calls of the class "${risk}" require approval.`;
    return { type: "asked", cause: "class", reason, ...(source !== undefined && { rule: source }) };
  }
  const reason = mode === "smart"
    ? `A call of the class "${risk}" requires approval in the mode "smart", and no rule or grant allows it.`
    : `Every call requires approval in the mode "${mode}", and no rule or grant allows this one.`;
  return { type: "asked", cause: "mode", reason };
}

/** Whether a call is asked about since it may show all files of a directory: it only reads, or something else approves it. */
async function isAskedAsSearch(gate: GateRules, assessed: AssessedCall): Promise<boolean> {
  const { tool, risk } = assessed;
  return gate.mode === "smart" && (tool.readOnly === true || risk === "read") ||
    await findApproval(gate, { ...assessed, search: undefined }) !== undefined;
}

const SEARCH_REASONS: Readonly<Record<WideSearch, string>> = {
  outside:
    "The command may read files with secrets: it may search a directory outside those of the sandbox.",
  comparison:
    "The command may read files with secrets: it may show all files of a directory that it compares.",
};

/** Formats a grant like a rule. */
function formatGrant(grant: TrustGrant): string {
  if (grant.type === "tool") return grant.name;
  return `${grant.name}(${grant.prefix}${grant.name === "bash" ? " *" : "/**"})`;
}

/** Returns the commands of a call that may change the working directory of later ones; `undefined` for another call. */
export function findMove(
  { name, arguments: args }: Omit<ExplainedRequest, "tool">,
): ExecutedCommands | undefined {
  if (name !== "bash") return undefined;
  const script = findExecutedCommands(typeof args.command === "string" ? args.command : "eval $X");
  return mayChangeDirectory(script) ? script : undefined;
}

/** Finds the grant that covers a call. No grant covers a dangerous command. */
function findGrant(
  { trusted, definitions }: GateRules,
  { call, tool, assessment }: AssessedCall,
): TrustGrant | undefined {
  if (assessment?.verdict === "dangerous" || isRedefined(definitions, tool)) return undefined;
  const own = trusted.filter(({ name }) => name === call.name);
  return own.find((grant) =>
    grant.type === "tool" && call.isConfined &&
    (grant.readOnly !== true || tool.readOnly === true)
  ) ?? own.find((grant) => grant.type === "prefix" && callHasPrefix(call, grant.prefix));
}

/** Whether commands are confined; without a sandbox to ask, they are assumed to be. */
export async function isConfined(sandbox: GateRules["sandbox"]): Promise<boolean> {
  return sandbox === undefined || (await sandbox.describe()).confined;
}
