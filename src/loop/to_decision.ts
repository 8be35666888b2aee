/**
 * Reads the decisions of people and programs on tool calls.
 *
 * @module
 */

import type { ApprovalDecision } from "../core/approval.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/**
 * Converts an answer to a decision of its own; an untyped function may return anything, which then denies the call.
 *
 * @throws {TypeError | RangeError} If its arguments are not JSON.
 */
export function toDecision(answer: unknown): ApprovalDecision {
  if (answer === true) return { type: "approved" };
  if (!isJsonObject(answer)) return { type: "denied" };
  const decision = answer as unknown as ApprovalDecision;
  const { rule, origin } = decision;
  const source = { ...(rule !== undefined && { rule }), ...(origin !== undefined && { origin }) };
  if (decision.type !== "approved") {
    const { reason } = decision;
    return { type: "denied", ...(reason !== undefined && { reason: String(reason) }), ...source };
  }
  const { scope, prefix, arguments: args } = decision;
  if (args !== undefined && !isJsonObject(args)) {
    return { type: "denied", reason: "the edited arguments are not an object" };
  }
  return {
    type: "approved",
    ...(scope !== undefined && { scope }),
    ...(prefix !== undefined && { prefix }),
    ...(args && { arguments: copyArguments(args) }),
    ...source,
  };
}

/**
 * Returns a copy of arguments from a policy or an approval.
 *
 * @throws {TypeError | RangeError} If they are not JSON.
 */
export function copyArguments(args: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(args));
}
