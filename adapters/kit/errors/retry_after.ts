/**
 * How long a provider asks to wait.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";

/** What a provider said when it refused. */
export interface RetryAfterSource {
  /** Headers of the response. */
  readonly headers: Headers;
  /** The error's message. */
  readonly message: string;
  /** The error as JSON, if it was. */
  readonly body: JsonObject;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Reads the wait in milliseconds out of headers, body or words, in the order of their precision; `undefined` when
 * none says.
 */
export function findRetryAfter(
  { headers, message, body, now }: RetryAfterSource,
): number | undefined {
  return parseMilliseconds(headers.get("retry-after-ms")) ??
    parseRetryAfter(headers.get("retry-after"), now) ??
    findRetryInfo(body) ??
    parseMessageDelay(message) ??
    findExhaustedReset(headers, now);
}

/** Reads a `Retry-After` header: seconds, or an HTTP date; a date in the past is no wait. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // `Date.parse` reads nearly anything, so the day's name of an HTTP date is asked for.
  const date = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Reads a duration such as `125ms`, `20s`, `6m0s` or `1h2m3.5s`, in milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(
    text.trim(),
  );
  if (!match?.[0]) return undefined;
  const [, hours = 0, minutes = 0, seconds = 0, millis = 0] = match;
  return Math.ceil(
    Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(millis),
  );
}

/** Google's `RetryInfo` among the details of an error. */
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
  const match = /(?:try again|retry)(?: again)? (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i
    .exec(message);
  return match?.[1] === undefined ? undefined : parseDuration(match[1]);
}

/** Limits are told as pairs of headers; only an exhausted one makes us wait, the longest of them. */
function findExhaustedReset(headers: Headers, now: number): number | undefined {
  let longest: number | undefined;
  for (const [name, value] of headers) {
    const reset = name.includes("ratelimit") && value === "0" && toResetHeader(name);
    const wait = reset ? parseResetDelay(headers.get(reset), now) : undefined;
    if (wait !== undefined) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}

function toResetHeader(remaining: string): string | undefined {
  return remaining.includes("remaining") ? remaining.replace("remaining", "reset") : undefined;
}

/** A duration (OpenAI, Groq), a date (Anthropic), seconds, or an epoch in seconds or milliseconds (OpenRouter). */
export function parseResetDelay(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const duration = parseDuration(value);
  if (duration !== undefined) return duration;
  const number = Number(value);
  if (Number.isNaN(number)) {
    const date = Date.parse(value);
    return Number.isNaN(date) ? undefined : Math.max(0, date - now);
  }
  if (number > 1e12) return Math.max(0, number - now);
  return number > 1e9 ? Math.max(0, number * 1000 - now) : Math.ceil(number * 1000);
}

function parseMilliseconds(value: string | null): number | undefined {
  return value !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(value)
    ? Math.ceil(Number(value))
    : undefined;
}
