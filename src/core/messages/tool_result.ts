/**
 * The results of tools.
 *
 * @module
 */

import type { Cost, Usage } from "../models/usage.ts";
import type { ContentBlock } from "./content.ts";

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
