/**
 * Decides about a tool call by rules, modes, classes and grants, before a person is asked.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { assessCall } from "./assess_call.ts";
import type { CallExplanation, ExplainedRequest } from "./call_explanation.ts";
import {
  type ExecutedCommands,
  findExecutedCommands,
  mayChangeDirectory,
} from "./commands/executed_commands.ts";
import { explainQuestion } from "./explain_question.ts";
import { findApproval } from "./find_approval.ts";
import { findDenial } from "./find_denial.ts";
import type { GateRules } from "./gate_rules.ts";
import { findWorkingDirectory } from "./patterns/path_rules.ts";
import { followRuleLinks } from "./rules/linked_rules.ts";

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

/** Returns the commands of a call that may change the working directory of later ones; `undefined` for another call. */
export function findMove(
  { name, arguments: args }: Omit<ExplainedRequest, "tool">,
): ExecutedCommands | undefined {
  if (name !== "bash") return undefined;
  const script = findExecutedCommands(typeof args.command === "string" ? args.command : "eval $X");
  return mayChangeDirectory(script) ? script : undefined;
}
