/**
 * Results of what tools return.
 *
 * @module
 */

import { getErrorMessage } from "../errors/errors.ts";
import { ignoreRejections } from "../errors/refuse_promise.ts";
import { copyJson } from "../json/copy_json.ts";
import { isJsonObject } from "../json/json.ts";
import { toValidSpending } from "../models/valid_usage.ts";
import { findContentProblem } from "./check_message.ts";
import { type AgentToolResult, errorResult, textResult } from "./tool_result.ts";

/**
 * Converts what a tool returned to a result of its own, which shares nothing with the tool. An error counts as thrown; any
 * other value becomes an error result that names the problem.
 */
export function toToolResult(output: unknown): AgentToolResult {
  if (typeof output === "string") return textResult(output);
  try {
    if (output instanceof Error) return errorResult(getErrorMessage(output));
    return hasResultShape(output) ? copyToolResult(output) : toJsonResult(output);
  } catch (thrown) {
    return errorResult(
      `The tool returned an invalid result: ${getErrorMessage(thrown)}. ` +
        "It must return a string, a JSON value or { content: [...] }.",
    );
  }
}

const RESULT_PROPERTIES: ReadonlySet<string> = new Set([
  "content",
  "details",
  "isError",
  "usage",
  "cost",
]);

/** Whether a value has the shape of a tool result; any other object is data. */
function hasResultShape(output: unknown): output is AgentToolResult {
  return isJsonObject(output) && Array.isArray(output["content"]) &&
    Object.keys(output).every((name) => RESULT_PROPERTIES.has(name));
}

/**
 * Returns a copy of a result, which shares nothing with it.
 *
 * @throws {TypeError} If the value is no result.
 */
export function copyToolResult(output: AgentToolResult): AgentToolResult {
  if (!hasResultShape(output)) throw new TypeError("a result must be { content: [...] }");
  const problem = findContentProblem(output.content);
  if (problem) throw new TypeError(problem);
  const { content, details, isError } = output;
  ignoreRejections(isError);
  return {
    content: copyJson(content),
    ...(details !== undefined && { details: copyJson(details) }),
    ...(isError !== undefined && { isError: isError === true }),
    ...toValidSpending(output),
  };
}

function toJsonResult(output: unknown): AgentToolResult {
  const value = copyJson(output);
  return textResult(JSON.stringify(value), value);
}
