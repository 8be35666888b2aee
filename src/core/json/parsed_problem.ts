/**
 * Limits of the JSON that models write.
 *
 * @module
 */

import { MAX_JSON_DEPTH } from "./json.ts";

/**
 * Returns why a value that `JSON.parse` has returned is refused, as a fragment after `is`; `undefined` if it is not.
 *
 * Values that nest deeper than {@linkcode MAX_JSON_DEPTH} are, so that every later stage may recurse, and so are numbers
 * such as `1e400`, which `JSON.parse` returns as `Infinity` and `JSON.stringify` writes as `null`.
 */
export function findParsedProblem(value: unknown): string | undefined {
  return findProblem(value, MAX_JSON_DEPTH);
}

function findProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : "not readable, since a number is out of range";
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (depth === 0) return `nested more than ${MAX_JSON_DEPTH} levels deep`;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    const problem = findProblem(item, depth - 1);
    if (problem) return problem;
  }
  return undefined;
}

/**
 * Returns why a JSON text is refused, as a sentence: it has an integer that `JSON.parse` changes, such as an id of 19
 * digits, which may become the id of something else. A number that `JSON.stringify` has written is none.
 */
export function findLostDigits(text: string): string | undefined {
  if (!mayChangeIntegers(text)) return undefined;
  const [changed] = findChangedIntegers(text).values();
  if (changed === undefined) return undefined;
  return `The number ${changed} has more digits than a number keeps; write it as a text or round it`;
}

/** Writes the integers that `JSON.parse` changed in a part of `source` with their digits again, into the JSON of the part. */
export function restoreDigits(json: string, source: string): string {
  return restoreIntegers(json, findChangedIntegers(source));
}

/** Writes integers that `JSON.parse` changed with their digits, which are listed by the changed numbers. */
export function restoreIntegers(json: string, integers: ReadonlyMap<string, string>): string {
  if (integers.size === 0) return json;
  let isText = false;
  return json.replace(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
    if (token === '"') isText = !isText;
    return isText ? token : integers.get(token) ?? token;
  });
}

/** Whether a text has as many digits in a row as an integer that `JSON.parse` changes. */
function mayChangeIntegers(text: string): boolean {
  return /\d{16}/.test(text);
}

/** Finds the integers of a JSON text that `JSON.parse` changes, by the changed numbers. */
export function findChangedIntegers(text: string): ReadonlyMap<string, string> {
  if (!mayChangeIntegers(text)) return new Map();
  const withoutTexts = text.replace(/\\./g, "").replace(/"[^"]*"/g, "");
  const numbers = withoutTexts.match(/-?\d[\d.eE+-]*/g) ?? [];
  const changed = numbers.filter((number) =>
    /^-?\d{16,}$/.test(number) && Number.isFinite(Number(number)) &&
    String(Number(number)) !== number && BigInt(number) !== BigInt(Number(number))
  );
  return new Map(changed.map((number) => [String(Number(number)), number]));
}
