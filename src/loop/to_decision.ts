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
  const { type, reason, arguments: args } = answer;
  if (type !== "approved") {
    const texts = pickTexts(answer, ["rule", "origin"]);
    return { type: "denied", ...(reason !== undefined && { reason: String(reason) }), ...texts };
  }
  if (args !== undefined && !isJsonObject(args)) {
    return { type: "denied", reason: "the edited arguments are not an object" };
  }
  return {
    type: "approved",
    ...pickTexts(answer, ["scope", "prefix", "rule", "origin"]),
    ...(args && { arguments: copyArguments(args) }),
  };
}

/** Returns those of the properties that are texts. */
function pickTexts(answer: JsonObject, names: readonly string[]): JsonObject {
  const texts = names.filter((name) => typeof answer[name] === "string");
  return Object.fromEntries(texts.map((name) => [name, answer[name]]));
}

/**
 * Returns a copy of arguments from a policy or an approval.
 *
 * @throws {TypeError | RangeError} If they are not JSON.
 */
export function copyArguments(args: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(args));
}
