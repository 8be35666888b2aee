/**
 * What the headers of a response tell of the provider's limits.
 *
 * @module
 */

import { parseResetDelay } from "../errors/retry_after.ts";

/** One limit, as far as it is told. */
export interface ReportedLimit {
  /** Most in a minute. */
  readonly limit?: number;
  /** What is left. */
  readonly remaining?: number;
  /** When it is full again, in milliseconds from now. */
  readonly resetMs?: number;
}

/** The limits of requests and of tokens. */
export interface ReportedLimits {
  readonly requests: ReportedLimit;
  readonly tokens: ReportedLimit;
}

/** Reads `x-ratelimit-limit-requests` and its kin (OpenAI, Groq, Azure), and Anthropic's own. */
export function readLimits(headers: Headers, now: number): ReportedLimits {
  return {
    requests: readLimit(headers, "requests", now),
    tokens: readLimit(headers, "tokens", now),
  };
}

function readLimit(headers: Headers, what: "requests" | "tokens", now: number): ReportedLimit {
  const read = (fact: string) =>
    headers.get(`x-ratelimit-${fact}-${what}`) ??
      headers.get(`anthropic-ratelimit-${what}-${fact}`);
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
