/**
 * Reads the decisions of people and programs on tool calls.
 *
 * @module
 */

import type { ApprovalDecision, RefusedHunks } from "../../core/approval/approval.ts";
import { ignoreRejections } from "../../core/errors/refuse_promise.ts";
import { copyJson } from "../../core/json/copy_json.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/** Properties of a decision that are strings, apart from its type. */
const TEXT_PROPERTIES = {
  approved: ["scope", "prefix", "rule", "ruleSource", "origin"],
  denied: ["reason", "rule", "ruleSource", "origin"],
} as const;

/**
 * Converts an answer to a decision of its own; an untyped function may return anything, which then denies the call.
 *
 * @throws {TypeError} If its arguments are not JSON, or its refused hunks are invalid.
 */
export function toDecision(answer: unknown): ApprovalDecision {
  if (answer === true) return { type: "approved" };
  if (!isJsonObject(answer)) return { type: "denied" };
  const { type, arguments: args, refusedHunks } = answer;
  if (type !== "approved") return { type: "denied", ...pickTexts(answer, "denied") };
  if (args !== undefined && !isJsonObject(args)) {
    return { type: "denied", reason: "the edited arguments are not an object" };
  }
  return {
    type: "approved",
    ...pickTexts(answer, "approved"),
    ...(args && { arguments: copyArguments(args) }),
    ...(refusedHunks !== undefined && { refusedHunks: copyRefusedHunks(refusedHunks, args) }),
  };
}

function copyRefusedHunks(value: unknown, args: JsonObject | undefined): RefusedHunks[] {
  const copy = copyJson(value);
  if (!args && Array.isArray(copy) && copy.every(isRefusedHunks)) return copy;
  throw new TypeError("refusedHunks must be a list of { path, hunks } without edited arguments");
}

function isRefusedHunks(file: unknown): file is RefusedHunks {
  return isJsonObject(file) && typeof file["path"] === "string" && Array.isArray(file["hunks"]) &&
    file["hunks"].every((hunk) => typeof hunk === "string");
}

function pickTexts(answer: JsonObject, type: ApprovalDecision["type"]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of TEXT_PROPERTIES[type]) {
    const { [name]: value } = answer;
    if (typeof value === "string") texts[name] = value;
    else ignoreRejections(value);
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
