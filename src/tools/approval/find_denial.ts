/**
 * Finds the rule or the class that denies a call.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { type AssessedCall, canExclude } from "./assess_call.ts";
import { nameClass, nameRule } from "./decision_source.ts";
import type { GateRules } from "./gate_rules.ts";
import type { Concern } from "./patterns/concern.ts";
import type { RuledCall } from "./rules/approval_rules.ts";
import type { SourcedRule } from "./rules/rule_set.ts";

/** Returns the denial of a call; `undefined` if nothing denies it. */
export function findDenial(
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
export function formatExclusion(
  { call, tool }: Pick<AssessedCall, "call" | "tool">,
  rules: readonly SourcedRule[],
): string {
  if (!canExclude(tool)) return "Name another directory.";
  const { exclude_paths: given } = call.arguments;
  const patterns = [...Array.isArray(given) ? given : [], ...rules.map(({ pattern }) => pattern)];
  const excluded = JSON.stringify([...new Set(patterns)]);
  return `Leave them out with exclude_paths: ${excluded}, or name another directory.`;
}
