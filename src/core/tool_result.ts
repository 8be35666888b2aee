/**
 * The results of tools.
 *
 * @module
 */

import { findContentProblem } from "./check_message.ts";
import type { ContentBlock } from "./content.ts";
import { copyJson } from "./copy_json.ts";
import { getErrorMessage } from "./errors.ts";
import { isJsonObject } from "./json.ts";
import { type Cost, toValidSpending, type Usage } from "./usage.ts";

/** The result of a tool. */
export interface AgentToolResult {
  /** Text, image, document and audio blocks for the model. */
  readonly content: readonly ContentBlock[];
  /** Structured data for logs and user interfaces; never sent to the model. */
  readonly details?: unknown;
  /** Whether the tool failed. Default: `false`. */
  readonly isError?: boolean | undefined;
  /** Tokens that the tool used, counted towards the run. Default: none. */
  readonly usage?: Usage | undefined;
  /** Cost of the tool, counted towards the run. Default: 0, or unknown if it reports `usage`. */
  readonly cost?: Cost | undefined;
}

/**
 * Output of a tool: an {@linkcode AgentToolResult}, or any JSON value, which becomes the text for the model and, unless
 * it is a string, the `details`. An object with `content`, and no properties but those of a result, is a result. What JSON
 * cannot represent, such as a `Map`, a `Response` or a generator, is an error for the model.
 */
export type ToolOutput = AgentToolResult | string | number | boolean | null | object;

/** A partial result of a running tool; a string is the same as one text block. */
export type ToolUpdate = AgentToolResult | string;

/**
 * Creates a tool result with one text block for the model, and `details` for the program.
 *
 * @example
 * ```ts
 * import { textResult } from "@swink/agent";
 *
 * const result = textResult("2 orders", { ids: [17, 18] });
 * ```
 */
export function textResult(text: string, details?: unknown): AgentToolResult {
  const content: ContentBlock[] = [{ type: "text", text }];
  return details === undefined ? { content } : { content, details };
}

/**
 * Creates an error result with one text block, which should advise the model how to proceed.
 *
 * @example
 * ```ts
 * import { errorResult } from "@swink/agent";
 *
 * const result = errorResult("No such file: a.txt. List the directory first.");
 * ```
 */
export function errorResult(text: string, details?: unknown): AgentToolResult {
  return { ...textResult(text, details), isError: true };
}

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
