/**
 * Checks the names of options and properties, for programs without types.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";

/** Options and properties of other libraries, and the ones that have their effect here. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = {
  instructions: "systemPrompt",
  system: "systemPrompt",
  maxSteps: "maxTurns",
  stopWhen: "maxTurns",
  abortSignal: "signal",
  maxOutputTokens: "maxTokens",
  inputSchema: "parameters",
  needsApproval: "requiresApproval",
};

/**
 * Checks that all properties have known names; one that is `undefined` counts as missing.
 *
 * @throws {BadRequestError} If a name is unknown; the message suggests a similar one.
 */
export function checkNames(
  options: object | undefined,
  known: readonly string[],
  subject: string,
): void {
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === undefined || known.includes(name)) continue;
    const similar = suggestName(name, known);
    const suggestion = similar === undefined ? "" : `: did you mean ${similar}?`;
    throw new BadRequestError(`Unknown option "${name}" of ${subject}${suggestion}`);
  }
}

/**
 * Checks that no property is a misspelling of a known one that is missing, or its name in another library; other
 * properties are allowed.
 *
 * @throws {BadRequestError} If a property has almost the name of a missing one.
 */
export function checkMisspellings(
  object: object,
  known: readonly string[],
  subject: string,
): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name)) continue;
    const missing = known.filter((other) => !(other in object));
    // A text, since a name such as "constructor" is one of every object.
    const similar = findSimilarName(`${FOREIGN_NAMES[name] ?? name}`, missing);
    if (similar === undefined) continue;
    throw new BadRequestError(
      `Unknown property "${name}" of ${subject}: did you mean ${similar}?`,
    );
  }
}

function suggestName(name: string, known: readonly string[]): string | undefined {
  const { [name]: foreign } = FOREIGN_NAMES;
  if (foreign !== undefined && known.includes(foreign)) return foreign;
  return findSimilarName(name, known) ?? known.find((other) => other.startsWith(name));
}

/** Finds a name that differs in at most two adjacent letters; case, `_` and `-` do not count. */
function findSimilarName(name: string, candidates: readonly string[]): string | undefined {
  return candidates.find((candidate) => isSimilar(normalizeName(name), normalizeName(candidate)));
}

function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Compares the equal letters at both ends; short words may differ in one letter only. */
function isSimilar(word: string, other: string): boolean {
  const length = Math.max(word.length, other.length);
  const shorter = Math.min(word.length, other.length);
  let equal = 0;
  while (equal < shorter && word[equal] === other[equal]) equal++;
  for (let end = 1; equal < shorter && word.at(-end) === other.at(-end); end++) equal++;
  return length - equal <= (length < 6 ? 1 : 2);
}
