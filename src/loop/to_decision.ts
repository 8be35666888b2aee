/**
 * Reads the decisions of people and programs on tool calls.
 *
 * @module
 */

import type { ApprovalDecision } from "../core/approval.ts";
import { copyJson } from "../core/copy_json.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/** Properties of a decision other than its type and its arguments; all are strings. */
const TEXT_PROPERTIES = {
  approved: ["scope", "prefix", "rule", "origin"],
  denied: ["reason", "rule", "origin"],
} as const;

/**
 * Converts an answer to a decision of its own; an untyped function may return anything, which then denies the call.
 *
 * @throws {TypeError} If its arguments are not JSON.
 */
export function toDecision(answer: unknown): ApprovalDecision {
  if (answer === true) return { type: "approved" };
  if (!isJsonObject(answer)) return { type: "denied" };
  const { type, arguments: args } = answer;
  if (type !== "approved") return { type: "denied", ...pickTexts(answer, "denied") };
  if (args !== undefined && !isJsonObject(args)) {
    return { type: "denied", reason: "the edited arguments are not an object" };
  }
  const edited = args && { arguments: copyArguments(args) };
  return { type: "approved", ...pickTexts(answer, "approved"), ...edited };
}

function pickTexts(answer: JsonObject, type: ApprovalDecision["type"]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of TEXT_PROPERTIES[type]) {
    const { [name]: value } = answer;
    if (typeof value === "string") texts[name] = value;
  }
  return texts;
}

/**
 * Returns a copy of arguments from a policy or an approval.
 *
 * @throws {TypeError} If they are not a JSON object.
 */
export function copyArguments(args: JsonObject): JsonObject {
  const copy = copyJson(args);
  if (!isJsonObject(copy)) throw new TypeError("the arguments are not an object");
  return copy;
}
