/**
 * Types for JSON values and JSON Schemas.
 *
 * @module
 */

/** A value that `JSON.parse` can return. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** A JSON object with unknown properties, such as tool arguments or provider options. */
export type JsonObject = { readonly [key: string]: unknown };

/**
 * A JSON Schema (draft 2020-12) as a plain object. If its literals are known (`as const`, or a parameter that infers
 * them), `Infer` gives the type of the values that it accepts.
 */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Whether a value is an object, but not an array or `null`. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a deep copy of a JSON value. */
export function cloneJson<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(cloneJson) as Value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    setProperty(copy, key, cloneJson((value as Record<string, unknown>)[key]));
  }
  return copy as Value;
}

/** Sets an own property, also for the key `__proto__`, as `JSON.parse` does. */
function setProperty(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") {
    target[key] = value;
    return;
  }
  const attributes = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(target, key, { ...attributes, value });
}
