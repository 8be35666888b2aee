/**
 * JSON objects, and pointers into them.
 *
 * @module
 */

/** A JSON object, such as a schema. */
export type JsonRecord = { readonly [key: string]: unknown };

/**
 * Whether a value is an object, but not an array or `null`. A copy of `isJsonObject()`: with its module, bundlers would put
 * more code into what a page initially loads.
 */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Escapes a key for a JSON Pointer (RFC 6901). */
export function escapeKey(key: string | number): string {
  return String(key).replaceAll("~", "~0").replaceAll("/", "~1");
}
