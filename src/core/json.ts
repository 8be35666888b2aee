/**
 * JSON as TypeScript sees it: values, objects, and JSON Schemas.
 *
 * @module
 */

/** Any value that `JSON.parse` can return. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A JSON object whose members are not known yet: tool arguments, provider options. */
export type JsonObject = { readonly [key: string]: unknown };

/**
 * A JSON Schema (2020-12) as a plain object. Write it `as const`, or hand it to a function that infers
 * it as a literal, and {@linkcode Infer} gives the type of the values that it accepts.
 */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Tells whether a value is a JSON object (not an array, not `null`). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Copies a JSON value, so that whoever gets the copy cannot change the original. */
export function cloneJson<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as Value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    setProperty(copy, key, cloneJson((value as Record<string, unknown>)[key]));
  }
  return copy as Value;
}

/** Assigns a member; `__proto__` becomes an ordinary one, as `JSON.parse` makes it. */
function setProperty(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
  else {Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });}
}
