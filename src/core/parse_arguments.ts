/**
 * Parses the arguments of tool calls.
 *
 * @module
 */

import { getErrorMessage } from "./errors.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import { findParsedProblem } from "./parsed_problem.ts";

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
    const number = findInexactInteger(text);
    if (number === undefined) return { value };
    const reason = `The number ${number} has more digits than a number keeps`;
    return { reason: `${reason}; write it as a text or round it` };
  } catch (thrown) {
    return { reason: getErrorMessage(thrown) };
  }
}

/**
 * Finds an integer in a JSON text that `JSON.parse` changes, such as an id of 19 digits. A number that `JSON.stringify`
 * has written is none.
 */
function findInexactInteger(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined;
  const withoutTexts = text.replace(/\\./g, "").replace(/"[^"]*"/g, "");
  const numbers = withoutTexts.match(/-?\d[\d.eE+-]*/g) ?? [];
  return numbers.find((number) =>
    /^-?\d{16,}$/.test(number) && String(Number(number)) !== number &&
    BigInt(number) !== BigInt(Number(number))
  );
}
