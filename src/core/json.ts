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

/**
 * Returns a deep copy of a value as JSON, which `JSON.parse(JSON.stringify(value))` returns too: a member that JSON cannot
 * represent is omitted, or `null` in an array; a number that is not finite is `null`.
 *
 * @throws {TypeError} If the value has a bigint.
 * @throws {RangeError} If the value contains itself.
 */
export function cloneJson<Value>(value: Value): Value {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return (Number.isFinite(value) ? value : null) as Value;
    case "object":
      return cloneObject(value) as Value;
    case "bigint":
      throw new TypeError("a bigint is not JSON");
    default:
      return undefined as Value;
  }
}

function cloneObject(value: object | null): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((item) => cloneJson(item) ?? null);
  if ("toJSON" in value && typeof value.toJSON === "function") return cloneJson(value.toJSON(""));
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const copied = cloneJson(member);
    if (copied !== undefined) setProperty(copy, key, copied);
  }
  return copy;
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
