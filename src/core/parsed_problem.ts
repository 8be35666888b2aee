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
