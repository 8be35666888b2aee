/**
 * Checks the options of adapters and of requests, for callers without types.
 *
 * @module
 */

import { BadRequestError } from "../../../src/core/errors/errors.ts";
import { isJsonObject } from "../../../src/core/json/json.ts";
import type { StreamOptions } from "../../../src/core/streams/stream.ts";

/** The type of an option. */
interface Expectation {
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
}

const TEXT: Expectation = { expected: "a string", accepts: isString };
const RECORD: Expectation = { expected: "an object", accepts: isJsonObject };
const FUNCTION: Expectation = { expected: "a function", accepts: isFunction };
const LIMIT: Expectation = {
  expected: "a number above 0",
  accepts: (value) => typeof value === "number" && value > 0,
};

/** The options of `AdapterOptions`; adapters have more of their own. */
const ADAPTER_OPTIONS: Readonly<Record<string, Expectation>> = {
  apiKey: {
    expected: "a string or a function",
    accepts: (value) => isString(value) || isFunction(value),
  },
  keyHint: TEXT,
  baseUrl: TEXT,
  headers: {
    expected: "an object of strings",
    accepts: (value) => isPlainObject(value) && Object.values(Object(value)).every(isString),
  },
  fetch: FUNCTION,
  connectTimeoutMs: LIMIT,
  idleTimeoutMs: LIMIT,
  maxErrorBytes: LIMIT,
  catalog: RECORD,
  limiter: {
    expected: "a RateLimiter",
    accepts: (value) => isFunction(Object(value).acquire) && isFunction(Object(value).observe),
  },
};

const STREAM_OPTIONS: Readonly<Record<keyof StreamOptions, Expectation>> = {
  temperature: { expected: "a number", accepts: Number.isFinite },
  topP: {
    expected: "a number between 0 and 1",
    accepts: (value) => typeof value === "number" && value >= 0 && value <= 1,
  },
  stop: {
    expected: "a list of strings",
    accepts: (value) => Array.isArray(value) && value.every(isString),
  },
  seed: { expected: "an integer", accepts: Number.isSafeInteger },
  maxTokens: {
    expected: "a positive integer",
    accepts: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  },
  sessionId: TEXT,
  transport: oneOf("sse"),
  apiKey: TEXT,
  cache: oneOf("off", "short", "long"),
  toolChoice: {
    expected: '"auto", "none", "required" or { name: "…" }',
    accepts: (value) =>
      ["auto", "none", "required"].includes(String(value)) ||
      (isJsonObject(value) && isString(value["name"])),
  },
  responseSchema: RECORD,
  serverTools: {
    expected: "a list of objects",
    accepts: (value) => Array.isArray(value) && value.every(isJsonObject),
  },
  serviceTier: oneOf("auto", "default", "flex", "priority"),
  verbosity: oneOf("low", "medium", "high"),
  reasoningSummary: oneOf("off", "auto", "concise", "detailed"),
  extra: RECORD,
};

/**
 * Checks the options of an adapter; those that are `undefined` count as missing.
 *
 * @throws {BadRequestError} If they are no object, or an option is not of its type.
 */
export function checkAdapterOptions(options: object): void {
  if (!isPlainObject(options)) {
    throw new BadRequestError(`The options must be an object, not ${describe(options)}`);
  }
  checkOptions("", options, ADAPTER_OPTIONS);
}

/** Options that differ between providers. */
const PROVIDER_OPTION_NAMES: readonly string[] = ["apiKey", "baseUrl"];

/** Names of the options of all adapters. */
const ADAPTER_OPTION_NAMES: readonly string[] = [
  ...Object.keys(ADAPTER_OPTIONS),
  "clock",
];

/**
 * Checks that an adapter has all of the given options; those that are `undefined` count as missing. With a misspelt
 * `baseUrl`, requests and keys would be sent to another server. `own` are the options of this adapter alone.
 *
 * @throws {BadRequestError} If an option is unknown.
 */
export function checkOptionNames(options: object, own: readonly string[], subject: string): void {
  // The options that `connect()` takes for any provider may have `keyless`, which only servers that are compatible read.
  refuseUnknownOptions(options, [...ADAPTER_OPTION_NAMES, "keyless", ...own], subject);
}

/**
 * Checks the options of `connect()`; those that are `undefined` count as missing.
 *
 * @throws {BadRequestError} If an option is unknown or not of its type.
 */
export function checkConnectOptions(options: object): void {
  checkAdapterOptions(options);
  const shared = ADAPTER_OPTION_NAMES.filter((name) => !PROVIDER_OPTION_NAMES.includes(name));
  refuseUnknownOptions(options, [...shared, "providers", "env"], "connect()");
}

/**
 * Checks the options of a request; those that are `undefined` count as missing.
 *
 * @throws {BadRequestError} If an option is not of its type, or is a number that no provider accepts.
 */
export function checkStreamOptions(options: StreamOptions): void {
  checkOptions("streamOptions.", options, STREAM_OPTIONS);
}

/**
 * Checks the API of an adapter with several.
 *
 * @throws {BadRequestError} If the API is unknown.
 */
export function checkApi(api: "chat" | "responses" | undefined): void {
  checkOptions("", { api }, { api: oneOf("chat", "responses") });
}

function checkOptions(
  prefix: string,
  options: object,
  expectations: Readonly<Record<string, Expectation>>,
): void {
  for (const [name, value] of Object.entries(options)) {
    const expectation = Object.hasOwn(expectations, name) ? expectations[name] : undefined;
    if (value === undefined || !expectation || expectation.accepts(value)) continue;
    const { expected } = expectation;
    throw new BadRequestError(`${prefix}${name} must be ${expected}, not ${describe(value)}`);
  }
}

/** Describes a value without its text, which may be a key. */
function describe(value: unknown): string {
  if (typeof value === "number" || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (isPlainObject(value)) return "an object of other values";
  return `a ${Object.prototype.toString.call(value).slice(8, -1)} object`;
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function oneOf(...values: readonly string[]): Expectation {
  const expected = values.map((value) => `"${value}"`).join(" or ");
  return { expected, accepts: (value) => isString(value) && values.includes(value) };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

/**
 * Checks that all options have known names; those that are `undefined` count as missing. The message suggests a name that
 * differs only in case, `_` or `-`, or that is longer.
 *
 * @throws {BadRequestError} If an option is unknown.
 */
export function refuseUnknownOptions(
  options: object,
  known: readonly string[],
  subject: string,
): void {
  // `core/checks/check_names.ts` is loaded with an agent: shared with adapters, it would be a further file of a bundle.
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue;
    const similar = known.find((other) => normalizeName(other).startsWith(normalizeName(name)));
    const suggestion = similar === undefined ? "" : `: did you mean ${similar}?`;
    throw new BadRequestError(`Unknown option "${name}" of ${subject}${suggestion}`);
  }
}

function normalizeName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}
