/**
 * JSON values: their types, and copies that are safe for values of any origin.
 *
 * @module
 */

import { getErrorMessage } from "../errors/errors.ts";
import { ignoreRejections, isThenable } from "../errors/refuse_promise.ts";

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
 * Maximum nesting of the JSON values that models, hooks and tools pass to the library.
 *
 * Copying, validating and comparing values recurse, so a limit keeps them off the end of the stack. Parsers of other
 * languages have limits of the same order (128 in serde_json, 100 in protobuf); documents as deep as this are attacks or
 * malformed output.
 */
export const MAX_JSON_DEPTH = 200;

/** Whether arrays and objects in a JSON value are nested deeper than `depth` levels; a scalar has depth 0. */
export function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, depth - 1));
  return Object.values(value).some((item) => isDeeperThan(item, depth - 1));
}

/**
 * Returns a deep copy of a value as JSON, which `JSON.parse(JSON.stringify(value))` returns too: a member that JSON cannot
 * represent is omitted, or `null` in an array; a number that is not finite is `null`.
 *
 * Throws neither for a bigint, which is omitted, nor for a value that is nested too deeply or contains itself: levels far
 * below {@linkcode MAX_JSON_DEPTH} are `null`. A message or an event around a value of that depth is copied completely.
 * {@linkcode toJsonValue} reports such values instead.
 */
export function cloneJson<Value>(value: Value): Value {
  return cloneLevels(value, MAX_JSON_DEPTH + ENVELOPE_DEPTH) as Value;
}

/** Levels of the messages, events and session entries around a value. */
export const ENVELOPE_DEPTH = 10;

function cloneLevels(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : null;
    case "object":
      return value === null || depth === 0 ? null : cloneObject(value, depth);
    default:
      return undefined;
  }
}

function cloneObject(value: object, depth: number): unknown {
  const { toJSON } = value as { readonly toJSON?: unknown };
  const json: unknown = typeof toJSON === "function" ? toJSON.call(value, "") : value;
  if (typeof json !== "object" || json === null) return cloneLevels(json, depth);
  if (Array.isArray(json)) return json.map((item) => cloneLevels(item, depth - 1) ?? null);
  // Copying all members at once and then replacing some is twice as fast as adding one after the other.
  const copy: Record<string | symbol, unknown> = { ...json };
  // deno-lint-ignore guard-for-in -- a copy has own members only, and a check of each takes a third longer
  for (const key in copy) {
    const member = copy[key];
    if (typeof member === "string") continue;
    const copied = cloneLevels(member, depth - 1);
    if (copied === undefined) delete copy[key];
    else if (copied !== member) copy[key] = copied;
  }
  for (const key of Object.getOwnPropertySymbols(copy)) delete copy[key];
  return copy;
}

/** A JSON value, or the reason why a value is not JSON: a fragment such as `/a/0 is a bigint`. */
export type JsonConversion = { readonly value: JsonValue } | { readonly problem: string };

/**
 * Copies a value of unknown origin as JSON; never throws.
 *
 * Converts as `JSON.stringify()` does: calls `toJSON()`, omits properties that are `undefined`, and writes `null` for
 * `undefined` in arrays and for numbers that are not finite. Other values that are not JSON are a problem: functions,
 * promises, symbols, bigints, `undefined` itself, cycles, properties that throw when they are read, objects whose data is not in
 * their properties, such as a `Map`, a `Response` or an `Error`, and more than `maxDepth` levels; by default
 * {@linkcode MAX_JSON_DEPTH}.
 *
 * @example
 * ```ts ignore
 * toJsonValue({ at: new Date(0), note: undefined }); // { value: { at: "1970-01-01T00:00:00.000Z" } }
 * toJsonValue({ list: [5n] }); // { problem: "/list/0 is a bigint" }
 * ```
 */
export function toJsonValue(value: unknown, maxDepth: number = MAX_JSON_DEPTH): JsonConversion {
  const converter = new JsonConverter(maxDepth);
  try {
    return { value: converter.convert(value) };
  } catch (thrown) {
    const { problem = `cannot be read: ${getErrorMessage(thrown)}` } = converter;
    // Promises that a program has forgotten to await.
    ignoreRejections(value);
    return { problem: `${converter.position} ${problem}` };
  }
}

/** Copies a value as JSON. Throws if that is not possible; `position` is then the position of the invalid value. */
class JsonConverter {
  readonly #maxDepth: number;
  readonly #ancestors: object[] = [];
  readonly #keys: string[] = [];

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** The reason why a value is not JSON, as a fragment; `undefined` if a value cannot be read. */
  problem: string | undefined;

  get position(): string {
    return this.#keys.map((key) => `/${key}`).join("") || "the value";
  }

  convert(value: unknown): JsonValue {
    const { toJSON } = (value ?? {}) as { readonly toJSON?: unknown };
    return this.#copy(typeof toJSON === "function" ? toJSON.call(value) : value);
  }

  #copy(value: unknown): JsonValue {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : null;
      case "object":
        return value === null ? null : this.#copyObject(value);
      default:
        this.#fail(value === undefined ? "is undefined" : `is a ${typeof value}`);
    }
  }

  #fail(problem: string): never {
    this.problem = problem;
    throw new TypeError(problem);
  }

  #copyObject(object: object): JsonValue {
    if (isThenable(object)) this.#fail("is a promise");
    if (this.#ancestors.includes(object)) this.#fail("contains itself");
    if (this.#ancestors.length >= this.#maxDepth) {
      this.#fail(`is nested more than ${this.#maxDepth} levels deep`);
    }
    this.#ancestors.push(object);
    const copy = Array.isArray(object)
      ? Array.from(object, (item, index) => this.#copyMember(`${index}`, () => item) ?? null)
      : this.#copyRecord(object);
    this.#ancestors.pop();
    return copy;
  }

  #copyRecord(object: object): JsonValue {
    let copy: Record<string, JsonValue> = {};
    const keys = Object.keys(object);
    if (hasHiddenData(object, keys)) this.#fail("has data that is not JSON, such as a Map");
    for (const key of keys) {
      const value = this.#copyMember(key, () => (object as Record<string, unknown>)[key]);
      if (value === undefined) continue;
      // A computed name creates an own property `__proto__`, as `JSON.parse` does.
      if (key === "__proto__") copy = { ...copy, [key]: value };
      else copy[key] = value;
    }
    return copy;
  }

  /** Copies a property or an item; `undefined` stays `undefined`. The key stays in the position if that fails. */
  #copyMember(key: string, read: () => unknown): JsonValue | undefined {
    this.#keys.push(key);
    const value = read();
    const copy = value === undefined ? undefined : this.convert(value);
    this.#keys.pop();
    return copy;
  }
}

/**
 * Whether the data of an object is not in its properties: that of a collection, a stream, a promise, an error, bytes, or
 * of a class with private fields. JSON would be `{}`, or a property for each byte.
 */
function hasHiddenData(object: object, keys: readonly string[]): boolean {
  if (keys.length > 0) return object instanceof Error || ArrayBuffer.isView(object);
  const prototype: unknown = Object.getPrototypeOf(object);
  // A plain object may be of another realm, such as a frame.
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}
