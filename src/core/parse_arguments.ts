/**
 * Parses the arguments of tool calls.
 *
 * @module
 */

import { getErrorMessage } from "./errors.ts";
import { isDeeperThan, isJsonObject, type JsonObject, MAX_JSON_DEPTH } from "./json.ts";

/** The arguments of a tool call, or the reason why a text is not a JSON object. */
export type ParsedArguments = { readonly value: JsonObject } | { readonly reason: string };

/**
 * Parses the arguments of a tool call. Blank text is `{}`, since providers send no text for a call without arguments.
 *
 * Text that nests deeper than {@linkcode MAX_JSON_DEPTH} is refused here, so that every later stage may recurse.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return { reason: "The arguments must be a JSON object" };
    if (!isDeeperThan(value, MAX_JSON_DEPTH)) return { value };
    return { reason: `The arguments are nested more than ${MAX_JSON_DEPTH} levels deep` };
  } catch (thrown) {
    return { reason: getErrorMessage(thrown) };
  }
}
