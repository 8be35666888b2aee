import { assertThrows } from "@std/assert";
import { BadRequestError } from "../../../src/core/errors/errors.ts";
import {
  checkAdapterOptions,
  checkApi,
  checkConnectOptions,
  checkOptionNames,
  checkStreamOptions,
} from "./check_options.ts";

/** Options of untyped callers, and the message that names the invalid one. */
const ADAPTER_OPTIONS: readonly (readonly [Record<string, unknown>, string])[] = [
  [{ apiKey: 5 }, "apiKey must be a string or a function, not 5"],
  [{ apiKey: ["sk-1"] }, "apiKey must be a string or a function, not a list"],
  [{ baseUrl: new URL("https://a.example") }, "baseUrl must be a string, not a URL object"],
  [{ headers: new Headers() }, "headers must be an object of strings, not a Headers object"],
  [{ headers: { a: 5 } }, "headers must be an object of strings, not an object of other values"],
  [{ headers: null }, "headers must be an object of strings, not null"],
  [{ fetch: "fetch" }, "fetch must be a function, not a string"],
  [{ connectTimeoutMs: NaN }, "connectTimeoutMs must be a number above 0, not NaN"],
  [{ idleTimeoutMs: "5" }, "idleTimeoutMs must be a number above 0, not a string"],
  [{ limiter: {} }, "limiter must be a RateLimiter, not an object of other values"],
  [{ limiter: 50 }, "limiter must be a RateLimiter, not 50"],
  [{ maxErrorBytes: 0 }, "maxErrorBytes must be a number above 0, not 0"],
];

Deno.test("checkAdapterOptions(): names the option that is not of its type, without its text", () => {
  for (const [options, message] of ADAPTER_OPTIONS) {
    assertThrows(() => checkAdapterOptions(options), BadRequestError, message);
  }
});

Deno.test("checkAdapterOptions(): accepts missing and undefined options and no time limit", () => {
  checkAdapterOptions({});
  checkAdapterOptions({ apiKey: undefined, headers: undefined, connectTimeoutMs: Infinity });
  checkAdapterOptions({ headers: Object.assign(Object.create(null), { a: "b" }) });
});

Deno.test("checkOptionNames(): accepts the options of all adapters and of this one, and refuses others", () => {
  const clock = { now: () => 0, sleep: () => Promise.resolve() };
  const options = {
    apiKey: "k",
    baseUrl: "u",
    limiter: {},
    clock,
    api: "chat",
    baseURL: undefined,
  };
  checkOptionNames(options, ["api"], "the test");
  assertThrows(
    () => checkOptionNames({ baseURL: "http://localhost:1234" }, [], "the test"),
    BadRequestError,
    'Unknown option "baseURL" of the test: did you mean baseUrl?',
  );
  assertThrows(() => checkOptionNames({ api: "chat" }, [], "the test"), BadRequestError, '"api"');
});

Deno.test("checkConnectOptions(): refuses unknown options, and those that differ between providers", () => {
  checkConnectOptions({ providers: {}, env: () => undefined, headers: {}, apiKey: undefined });
  for (const name of ["provider", "apiKey", "baseUrl", "keyless"]) {
    assertThrows(
      () => checkConnectOptions({ [name]: "x" }),
      BadRequestError,
      `Unknown option "${name}" of connect()`,
    );
  }
  assertThrows(
    () => checkConnectOptions({ fetch: 5 }),
    BadRequestError,
    "fetch must be a function",
  );
});

/** Options of requests, and the message that names the invalid one. */
const STREAM_OPTIONS: readonly (readonly [Record<string, unknown>, string])[] = [
  [{ temperature: NaN }, "streamOptions.temperature must be a number, not NaN"],
  [{ temperature: null }, "streamOptions.temperature must be a number, not null"],
  [{ topP: 2 }, "streamOptions.topP must be a number between 0 and 1, not 2"],
  [{ stop: "END" }, "streamOptions.stop must be a list of strings, not a string"],
  [{ seed: 1.5 }, "streamOptions.seed must be an integer, not 1.5"],
  [{ maxTokens: -5 }, "streamOptions.maxTokens must be a positive integer, not -5"],
  [{ maxTokens: Infinity }, "streamOptions.maxTokens must be a positive integer, not Infinity"],
  [{ cache: "forever" }, 'streamOptions.cache must be "off" or "short" or "long", not a string'],
  [{ toolChoice: "any" }, 'must be "auto", "none", "required" or { name: "…" }, not a string'],
  [{ serverTools: {} }, "streamOptions.serverTools must be a list of objects"],
  [{ extra: 5 }, "streamOptions.extra must be an object, not 5"],
];

Deno.test("checkStreamOptions(): names the option that is not of its type or that no provider accepts", () => {
  for (const [options, message] of STREAM_OPTIONS) {
    assertThrows(() => checkStreamOptions(options), BadRequestError, message);
  }
});

Deno.test("checkStreamOptions(): accepts undefined options, limits and unknown names", () => {
  const untyped: object = { temperature: undefined, constructor: 1 };
  const toolChoice = { name: "read_file" };
  checkStreamOptions({ ...untyped, topP: 0, stop: [], seed: -1, maxTokens: 1, toolChoice });
});

Deno.test("checkApi(): names the APIs", () => {
  checkApi(undefined);
  checkApi("responses");
  assertThrows(
    () => checkApi("completions" as "chat"),
    BadRequestError,
    'api must be "chat" or "responses", not a string',
  );
});
