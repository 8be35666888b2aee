/**
 * Rate limits in response headers.
 *
 * @module
 */

import { parseResetDelay } from "../errors/retry_after.ts";

/** One limit; a field without a header is missing. */
export interface ReportedLimit {
  /** Requests or tokens per minute. */
  readonly limit?: number;
  /** Remaining requests or tokens. */
  readonly remaining?: number;
  /** Time until the limit is reset, in milliseconds. */
  readonly resetMs?: number;
}

/** Limits of requests and of tokens. */
export interface ReportedLimits {
  readonly requests: ReportedLimit;
  readonly tokens: ReportedLimit;
}

/** Reads the headers `x-ratelimit-limit-requests` etc. (OpenAI, Groq, Azure), and those of Anthropic. */
export function readLimits(headers: Headers, now: number): ReportedLimits {
  return {
    requests: readLimit(headers, "requests", now),
    tokens: readLimit(headers, "tokens", now),
  };
}

function readLimit(headers: Headers, unit: "requests" | "tokens", now: number): ReportedLimit {
  const read = (field: string) =>
    headers.get(`x-ratelimit-${field}-${unit}`) ??
      headers.get(`anthropic-ratelimit-${unit}-${field}`);
  const limit = parseCount(read("limit"));
  const remaining = parseCount(read("remaining"));
  const resetMs = parseResetDelay(read("reset"), now);
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetMs !== undefined && { resetMs }),
  };
}

function parseCount(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}
