/**
 * The values that a script assigns to variables which decide what programs do.
 *
 * @module
 */

import type { Assignment, DoubleQuotedChild, Word, WordPart } from "unbash";
import { isPlainValue, MAKE_FUNCTION } from "./evaluated_variables.ts";
import { isCount } from "./numeric_variables.ts";

/**
 * Whether a variable that decides which programs run has a common value that starts no unknown one.
 *
 * @param numbers The variables with numbers. If there are none, a function may have the name of a program that prints one.
 */
export function hasPlainValue(
  { name, value }: Assignment,
  isLiteral: (word: Word) => boolean,
  numbers: ReadonlySet<string> = new Set(),
): boolean {
  if (value.type === "ArrayValue") return false;
  if (isPlainValue(name, value.value, isLiteral(value))) return true;
  if (numbers.size === 0 || !name.endsWith("MAKEFLAGS")) return false;
  // As in `-j$(nproc)`.
  return isPlainValue(name, replaceExpansions(value, (part) => isNumber(part) ? "1" : "$"), true);
}

function isNumber(part: WordPart | DoubleQuotedChild): boolean {
  return part.type === "CommandExpansion" && isCount(part.script);
}

/**
 * Whether `make` may run commands in the value of a variable. An expansion of the shell is no function of `make`, but may be a
 * part of one.
 */
export function callsMakeFunction(value: Word): boolean {
  return ["", "$"].some((text) => MAKE_FUNCTION.test(replaceExpansions(value, () => text)));
}

/** Returns the text of a word with other texts in place of its expansions. */
function replaceExpansions(
  { value, parts }: Word,
  replace: (part: WordPart | DoubleQuotedChild) => string,
): string {
  if (!parts) return value;
  return parts.flatMap<WordPart | DoubleQuotedChild>((part) =>
    part.type === "DoubleQuoted" ? part.parts : [part]
  ).map((part) => {
    const isText = part.type === "AnsiCQuoted" || part.type === "SingleQuoted" ||
      part.type === "Literal";
    return isText ? part.value : replace(part);
  }).join("");
}
