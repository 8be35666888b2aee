/**
 * Parses the arguments of tool calls.
 *
 * @module
 */

import { getErrorMessage } from "../errors/errors.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import { findLostDigits, findParsedProblem } from "./parsed_problem.ts";

/** The arguments of a tool call, or the reason why a text is not a JSON object. */
export type ParsedArguments = { readonly value: JsonObject } | { readonly reason: string };

/**
 * Parses the arguments of a tool call. Blank text is `{}`, since providers send no text for a call without arguments. An
 * integer that would lose its last digits is refused, since it may be the id of something else.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return { reason: "The arguments must be a JSON object" };
    const problem = findParsedProblem(value);
    if (problem !== undefined) return { reason: `The arguments are ${problem}` };
    const reason = findLostDigits(text);
    return reason === undefined ? { value } : { reason };
  } catch (thrown) {
    return { reason: getErrorMessage(thrown) };
  }
}
