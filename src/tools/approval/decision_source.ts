/**
 * The source of a decision: a rule, or the gate of a risk class.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import type { RiskClass } from "../../core/approval/risk.ts";
import type { ClassGate } from "./gate_rules.ts";
import type { SourcedRule } from "./rules/rule_set.ts";

/** The source of a decision. */
export type DecisionSource = Pick<ApprovalDecision, "rule" | "ruleSource" | "origin">;

/** Returns a rule as the source of a decision. */
export function nameRule({ source, ruleSource }: SourcedRule): DecisionSource {
  return { rule: source, ...(ruleSource !== undefined && { ruleSource }), origin: "rule" };
}

/** Returns the gate of a class as the source of a decision. */
export function nameClass(risk: RiskClass, gate: ClassGate): DecisionSource {
  return { rule: formatClassRule(risk, gate), origin: "rule" };
}

/** Formats the gate of a class like a rule, such as `write: ask`. */
export function formatClassRule(risk: RiskClass, gate: ClassGate): string {
  return `${risk}: ${gate}`;
}
