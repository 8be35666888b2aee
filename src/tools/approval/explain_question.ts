/**
 * Explains why a call is submitted to the prompt.
 *
 * @module
 */

import type { AgentTool } from "../../core/tools/tool.ts";
import type { AssessedCall } from "./assess_call.ts";
import type { AskedDecision } from "./call_explanation.ts";
import { formatClassRule } from "./decision_source.ts";
import { findApproval, findGrantOrAskRule, mayReadSecrets } from "./find_approval.ts";
import { formatExclusion } from "./find_denial.ts";
import type { GateRules } from "./gate_rules.ts";
import type { WideSearch } from "./reads/wide_searches.ts";
import type { SourcedRule } from "./rules/rule_set.ts";
import { isRedefined } from "./rules/server_tools.ts";

/** Returns the first cause of the question about a call that nothing approves or denies. */
export async function explainQuestion(
  gate: GateRules,
  assessed: AssessedCall,
): Promise<AskedDecision> {
  const { asking } = await findGrantOrAskRule(gate, assessed);
  if (asking) return explainRule(asking, gate, assessed);
  if (isChanged(assessed.tool, gate)) {
    const reason = "The tool has changed since it was trusted in this session.";
    return { type: "asked", cause: "tool", reason };
  }
  const command = await findCommandReason(gate, assessed);
  if (command !== undefined) return { type: "asked", cause: "command", reason: command };
  const { mode, classes } = gate;
  const { risk } = assessed;
  if (classes[risk] === "ask") {
    const reason = `Calls of the class "${risk}" require approval.`;
    return { type: "asked", cause: "class", reason, rule: formatClassRule(risk, "ask") };
  }
  const reason = mode === "smart"
    ? `A call of the class "${risk}" requires approval in the mode "smart", and no rule or grant allows it.`
    : `Every call requires approval in the mode "${mode}", and no rule or grant allows this one.`;
  return { type: "asked", cause: "mode", reason };
}

function explainRule(
  rule: SourcedRule,
  { rules }: GateRules,
  assessed: AssessedCall,
): AskedDecision {
  const { call } = assessed;
  const { source, ruleSource } = rule;
  const isBelow = (candidate: SourcedRule) => candidate.concerns(call) === "below";
  const reason = isBelow(rule)
    ? `The rule ${source} requires approval for files below this directory. ${
      formatExclusion(assessed, rules.ask.filter(isBelow))
    }`
    : `The rule ${source} requires approval.`;
  return {
    type: "asked",
    cause: "rule",
    reason,
    rule: source,
    ...(ruleSource !== undefined && { ruleSource }),
  };
}

/** Whether a tool differs from the one that a person has trusted. */
function isChanged(tool: AgentTool, { trusted, definitions }: GateRules): boolean {
  return isRedefined(definitions, tool) && trusted.some(({ name }) => name === tool.name);
}

/** Returns why a command is asked about for its effects; `undefined` if it is not. */
async function findCommandReason(
  gate: GateRules,
  assessed: AssessedCall,
): Promise<string | undefined> {
  const { call, tool, assessment, search } = assessed;
  const isSmart = gate.mode === "smart";
  if (isSmart && assessment?.verdict === "dangerous") {
    return `The command is dangerous. ${assessment.reasons.join(" ")}`;
  }
  if (search && await isAskedAsSearch(gate, assessed)) return SEARCH_REASONS[search];
  const { script } = call;
  if (isSmart && tool.readOnly === true && script && mayReadSecrets(script, tool)) {
    return "The command may read files with secrets: it does not name all files that it reads.";
  }
  if (!call.isMoved) return undefined;
  const approval = await findApproval(gate, { ...assessed, call: { ...call, isMoved: false } });
  return approval && MOVED_REASON;
}

const MOVED_REASON =
  "An earlier command may have changed the working directory, to which the path of the program is relative.";

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
