/**
 * Reads the decisions of people and programs on tool calls.
 *
 * @module
 */

import type { ApprovalDecision, RefusedHunks } from "../core/approval.ts";
import { copyJson } from "../core/copy_json.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/** Properties of a decision that are strings, apart from its type. */
const TEXT_PROPERTIES = {
  approved: ["scope", "prefix", "rule", "ruleSource", "origin"],
  denied: ["reason", "rule", "ruleSource", "origin"],
} as const;

/**
 * Converts an answer to a decision of its own; an untyped function may return anything, which then denies the call.
 *
 * @throws {TypeError} If its arguments are not JSON.
 */
export function toDecision(answer: unknown): ApprovalDecision {
  if (answer === true) return { type: "approved" };
  if (!isJsonObject(answer)) return { type: "denied" };
  const { type, arguments: args, refusedHunks } = answer;
  if (type !== "approved") return { type: "denied", ...pickTexts(answer, "denied") };
  if (args !== undefined && !isJsonObject(args)) {
    return { type: "denied", reason: "the edited arguments are not an object" };
  }
  if (refusedHunks === undefined) {
    const edited = args && { arguments: copyArguments(args) };
    return { type: "approved", ...pickTexts(answer, "approved"), ...edited };
  }
  const refused = args === undefined && copyRefusedHunks(refusedHunks);
  if (refused) return { type: "approved", ...pickTexts(answer, "approved"), refusedHunks: refused };
  const reason =
    "the refused hunks are not a list of paths with their hunks, without edited arguments";
  return { type: "denied", reason };
}

function copyRefusedHunks(value: unknown): RefusedHunks[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const files = value.map((file: unknown): RefusedHunks | undefined => {
    if (!isJsonObject(file) || typeof file["path"] !== "string") return undefined;
    const { path, hunks } = file;
    return isStringList(hunks) ? { path, hunks: [...hunks] } : undefined;
  });
  return files.every((file) => file !== undefined) ? files : undefined;
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
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
