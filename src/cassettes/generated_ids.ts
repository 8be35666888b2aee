/**
 * The ids that an agent gives to tool calls without one, which differ in each run.
 *
 * @module
 */

import type { JsonValue } from "../core/json/json.ts";

/** The form of `crypto.randomUUID()`. */
const RANDOM_ID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/**
 * Replaces the random ids that a request has more than once, as of a tool call and of its result, by their numbers. The
 * members of objects must be sorted.
 */
export function numberGeneratedIds(body: JsonValue): JsonValue {
  const ids = collectIds(body, new Map());
  const repeated = [...ids].filter(([, count]) => count > 1);
  if (repeated.length === 0) return body;
  const numbers = new Map(repeated.map(([id], index) => [id, `<id ${index + 1}>`]));
  return replaceTexts(body, numbers);
}

/** Counts the texts that are random ids. */
function collectIds(value: JsonValue, counts: Map<string, number>): Map<string, number> {
  if (typeof value === "string") {
    if (RANDOM_ID.test(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
  } else if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) collectIds(item, counts);
  }
  return counts;
}

function replaceTexts(value: JsonValue, replacements: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === "string") return replacements.get(value) ?? value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replacements));
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [name, replaceTexts(member, replacements)]),
  );
}
