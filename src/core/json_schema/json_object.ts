/**
 * Tests and comparisons of JSON values.
 *
 * @module
 */

/** A JSON object, such as a schema. */
export type JsonRecord = { readonly [key: string]: unknown };

/** Whether a value is an object, but not an array or `null`. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a text that is the same for equal JSON values, and only for these: the order of properties is ignored. */
export function toCanonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, part) => isRecord(part) ? sortProperties(part) : part);
}

function sortProperties(record: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(record).sort(([left], [right]) => left < right ? -1 : 1),
  );
}
