/**
 * Parser for the retry delays that providers send.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json/json.ts";

/** Error response that may contain a retry delay. */
export interface RetryAfterSource {
  /** Response headers. */
  readonly headers: Headers;
  /** Error message. */
  readonly message: string;
  /** Error as JSON; empty when it is not JSON. */
  readonly body: JsonObject;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Finds the retry delay in milliseconds in headers, body or message, the most precise source first. Returns `undefined`
 * when there is none. A delay that is greater than a safe integer is reduced to one.
 */
export function findRetryAfter(source: RetryAfterSource): number | undefined {
  const delayMs = findDelay(source);
  return delayMs === undefined ? undefined : Math.min(delayMs, Number.MAX_SAFE_INTEGER);
}

function findDelay({ headers, message, body, now }: RetryAfterSource): number | undefined {
  return parseMilliseconds(headers.get("retry-after-ms")) ??
    parseRetryAfter(headers.get("retry-after"), now) ??
    findRetryInfo(body) ??
    parseMessageDelay(message) ??
    findExhaustedReset(headers, now) ??
    findStructuredReset(headers.get("ratelimit")) ??
    findInReportedHeaders(body, now);
}

/**
 * Parses a `Retry-After` header in milliseconds from `now`: seconds, an HTTP date, or a time since the epoch; 0 for a time
 * in the past. If a gateway has added a second value, the first one counts.
 */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? "";
  const [, seconds] = /^(\d+(?:\.\d+)?)\s*(?:,|$)/.exec(text) ?? [];
  if (seconds !== undefined) return toDelay(Number(seconds), now);
  // `Date.parse` accepts almost any text, so the text must have the form of an HTTP date, whose zone is GMT.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun).*\d\d:\d\d:\d\d/.test(text)) return undefined;
  const date = Date.parse(/GMT$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Times since the epoch are greater: in seconds from 2001 on, in milliseconds from 2001 on. */
const MAX_SECONDS = 1e9;
const MAX_EPOCH_SECONDS = 1e12;

/** Converts seconds, or a time since the epoch in seconds or milliseconds, to a delay in milliseconds. */
function toDelay(value: number, now: number): number {
  if (value > MAX_EPOCH_SECONDS) return Math.max(0, value - now);
  return value > MAX_SECONDS ? Math.max(0, value * 1000 - now) : Math.ceil(value * 1000);
}

/** Milliseconds by the names of units, without a plural. */
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};
const AMOUNT = `(\\d+(?:\\.\\d+)?) ?(${Object.keys(UNITS).join("|")})s?(?![a-z])`;
const DURATION = new RegExp(`^(?:${AMOUNT},? ?)+$`, "i");
const MESSAGE_DELAY = new RegExp(
  `(?:(?:try again|retry)(?: again)? (?:in|after)|wait(?: for)?) ((?:${AMOUNT},? ?)+)`,
  "i",
);

/** Parses a duration such as `125ms`, `20s`, `6m0s`, `1h2m3.5s` or `2 minutes`, in milliseconds. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text.trim())) return undefined;
  let total = 0;
  for (const [, amount, unit = ""] of text.matchAll(new RegExp(AMOUNT, "gi"))) {
    total += Number(amount) * (UNITS[unit.toLowerCase()] ?? 0);
  }
  return Math.ceil(total);
}

/** Finds Google's `RetryInfo` among the details of an error. */
function findRetryInfo(body: JsonObject): number | undefined {
  const details = isJsonObject(body["error"]) ? body["error"]["details"] : undefined;
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = isJsonObject(detail) ? detail["retryDelay"] : undefined;
    if (typeof delay === "string") return parseDuration(delay);
  }
  return undefined;
}

function parseMessageDelay(message: string): number | undefined {
  const text = MESSAGE_DELAY.exec(message)?.[1];
  return text === undefined ? undefined : parseDuration(text);
}

/** Returns the longest reset delay of the exhausted limits. Two headers report the rest and the reset of each limit. */
function findExhaustedReset(
  headers: Iterable<[string, string]> & Pick<Headers | ReadonlyMap<string, string>, "get">,
  now: number,
): number | undefined {
  let longest: number | undefined;
  for (const [name, value] of headers) {
    if (value !== "0" || !name.includes("ratelimit") || !name.includes("remaining")) continue;
    const delayMs = parseResetDelay(headers.get(name.replace("remaining", "reset")) ?? null, now);
    if (delayMs !== undefined) longest = Math.max(longest ?? 0, delayMs);
  }
  return longest;
}

/**
 * Returns the longest reset delay of the exhausted limits in the `RateLimit` header of the IETF, in milliseconds:
 * `"day";r=0;t=60, "minute";r=5;t=10`, in earlier drafts `limit=100, remaining=0, reset=60`.
 */
function findStructuredReset(value: string | null): number | undefined {
  const isList = value !== null && !/;\s*r=/.test(value);
  const limits = isList ? [value] : value?.split(",") ?? [];
  const delays = limits.filter((limit) => /\b(?:r|remaining)=0(?!\d)/.test(limit)).flatMap(
    (limit) => {
      const seconds = /\b(?:t|reset)=(\d+)/.exec(limit)?.[1];
      return seconds === undefined ? [] : Number(seconds) * 1000;
    },
  );
  return delays.length > 0 ? Math.max(...delays) : undefined;
}

/**
 * Parses the reset time of a limit, in milliseconds from `now`: a duration (OpenAI, Groq), a date (Anthropic), seconds,
 * or a time since the epoch in seconds or milliseconds (OpenRouter).
 */
export function parseResetDelay(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const duration = parseDuration(value);
  if (duration !== undefined) return duration;
  const number = value.trim() === "" ? NaN : Number(value);
  if (!Number.isNaN(number)) return Math.max(0, toDelay(number, now));
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Finds the delay in the headers of another server, which OpenRouter reports in the error. */
function findInReportedHeaders({ error }: JsonObject, now: number): number | undefined {
  const metadata = isJsonObject(error) ? error["metadata"] : undefined;
  const reported = isJsonObject(metadata) ? metadata["headers"] : undefined;
  if (!isJsonObject(reported)) return undefined;
  const headers = new Map(
    Object.entries(reported).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  return parseRetryAfter(headers.get("retry-after") ?? null, now) ??
    findExhaustedReset(headers, now);
}

function parseMilliseconds(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(value)
    ? Math.ceil(Number(value))
    : undefined;
}
