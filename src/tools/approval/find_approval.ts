/**
 * Finds the mode, class, rule or grant that approves a call.
 *
 * @module
 */

import type { ApprovalDecision, TrustGrant } from "../../core/approval/approval.ts";
import { cloneJson, type JsonObject } from "../../core/json/json.ts";
import { needsApproval } from "../../core/tools/needs_approval.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { isHidingSecrets } from "../kit/tool_marks.ts";
import type { AssessedCall } from "./assess_call.ts";
import type { ExecutedCommands } from "./commands/executed_commands.ts";
import { nameClass, nameRule } from "./decision_source.ts";
import type { GateRules } from "./gate_rules.ts";
import { mayReadUnknownFiles } from "./reads/unknown_reads.ts";
import {
  callHasPrefix,
  findCoveringRules,
  getHarmlessPart,
  parsePrefix,
  type RuledCall,
} from "./rules/approval_rules.ts";
import type { SourcedRule } from "./rules/rule_set.ts";
import { isRedefined } from "./rules/server_tools.ts";

/** Finds what approves a call: the mode, the gate of its class, a rule or a grant. */
export async function findApproval(
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
export interface GrantOrAskRule {
  /** The approval. */
  readonly granted?: ApprovalDecision | undefined;
  /** The rule. */
  readonly asking?: SourcedRule | undefined;
}

/**
 * Finds the grants that approve a call, or the rule that asks about it. Grants for commands decide before a rule about these,
 * and not about the harmless ones of the same call.
 */
export async function findGrantOrAskRule(
  gate: GateRules,
  given: AssessedCall,
): Promise<GrantOrAskRule> {
  const assessed = await addConditions(gate, given);
  const { call } = assessed;
  const grant = findGrant(gate, assessed);
  const granted = grant
    ? approveByGrant(grant)
    : findJointApproval(listCommandGrants(gate), assessed);
  const isForTool = grant?.type === "tool";
  const asking = granted
    ? (isForTool ? undefined : findAskRuleForRest(gate, call))
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

/** Whether a command of a tool may read files with secrets. */
export function mayReadSecrets(script: ExecutedCommands, tool: AgentTool): boolean {
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

/** Formats a grant like a rule. */
function formatGrant(grant: TrustGrant): string {
  if (grant.type === "tool") return grant.name;
  return `${grant.name}(${grant.prefix}${grant.name === "bash" ? " *" : "/**"})`;
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
