/**
 * Parser for the retry delays that providers send.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../src/core/json.ts";

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
 * when there is none.
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

/** Parses a `Retry-After` header, seconds or an HTTP date, in milliseconds from `now`; 0 for a date in the past. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // `Date.parse` accepts almost any text, so the text must begin with a weekday, like an HTTP date.
  const date = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Parses a duration such as `125ms`, `20s`, `6m0s` or `1h2m3.5s`, in milliseconds. */
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
  const match =
    /(?:try again|retry)(?: again)? (?:in|after) ((?:\d+(?:\.\d+)?(?: seconds?|ms|h|m|s))+)/i
      .exec(message);
  return match?.[1] === undefined ? undefined : parseDuration(match[1].replace(/ seconds?/i, "s"));
}

/** Returns the longest reset delay of the exhausted limits. Two headers report the rest and the reset of each limit. */
function findExhaustedReset(headers: Headers, now: number): number | undefined {
  let longest: number | undefined;
  for (const [name, value] of headers) {
    if (value !== "0" || !name.includes("ratelimit") || !name.includes("remaining")) continue;
    const delayMs = parseResetDelay(headers.get(name.replace("remaining", "reset")), now);
    if (delayMs !== undefined) longest = Math.max(longest ?? 0, delayMs);
  }
  return longest;
}

/**
 * Parses the reset time of a limit, in milliseconds from `now`: a duration (OpenAI, Groq), a date (Anthropic), seconds,
 * or a time since the epoch in seconds or milliseconds (OpenRouter).
 */
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
