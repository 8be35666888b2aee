/**
 * What the headers of a response tell of the provider's limits.
 *
 * @module
 */

import { waitUntil } from "../errors/retry_after.ts";

/** One limit, as far as it is told. */
export interface ToldLimit {
  /** Most in a minute. */
  readonly limit?: number;
  /** What is left. */
  readonly remaining?: number;
  /** When it is full again, in milliseconds from now. */
  readonly resetMs?: number;
}

/** The limits of requests and of tokens. */
export interface ToldLimits {
  readonly requests: ToldLimit;
  readonly tokens: ToldLimit;
}

/** Reads `x-ratelimit-limit-requests` and its kin (OpenAI, Groq, Azure), and Anthropic's own. */
export function limitsIn(headers: Headers, now: number): ToldLimits {
  return { requests: limitOf(headers, "requests", now), tokens: limitOf(headers, "tokens", now) };
}

function limitOf(headers: Headers, what: "requests" | "tokens", now: number): ToldLimit {
  const read = (fact: string) =>
    headers.get(`x-ratelimit-${fact}-${what}`) ??
      headers.get(`anthropic-ratelimit-${what}-${fact}`);
  const limit = numberOf(read("limit"));
  const remaining = numberOf(read("remaining"));
  const resetMs = waitUntil(read("reset"), now);
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(resetMs !== undefined && { resetMs }),
  };
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text.trim()) ? Number(text) : undefined;
}
