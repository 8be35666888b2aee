/**
 * When a failed model call is tried again.
 *
 * @module
 */

import type { AgentError } from "./errors.ts";

/** A model call that failed. */
export interface RetryFailure {
  /** What went wrong. */
  readonly error: AgentError;
  /** Which attempt failed; the first is 1. */
  readonly attempt: number;
}

/**
 * Decides on a failed model call: the milliseconds to wait before the next attempt, or `null` to stop.
 *
 * Context overflow and abort are never retried, whatever a strategy says.
 */
export type RetryStrategy = (failure: RetryFailure) => number | null;

/** Options of {@linkcode exponentialBackoff}. */
export interface BackoffOptions {
  /** All attempts together, the first included. Default: 3. */
  readonly maxAttempts?: number;
  /** Delay after the first failure, in milliseconds. Default: 1,000. */
  readonly baseDelayMs?: number;
  /** No delay is longer, in milliseconds. Default: 60,000. */
  readonly maxDelayMs?: number;
  /** Each delay is this many times the one before. Default: 2. */
  readonly multiplier?: number;
  /** Spreads each delay over half to one and a half of itself. Default: `true`. */
  readonly jitter?: boolean;
  /** Source of randomness in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Waits longer after each failure, and as long as the provider asks where it says so.
 *
 * @example
 * ```ts
 * import { exponentialBackoff, NetworkError } from "@swink/agent";
 *
 * const retry = exponentialBackoff({ maxAttempts: 3, jitter: false });
 * retry({ error: new NetworkError("Connection reset"), attempt: 1 }); // 1000
 * retry({ error: new NetworkError("Connection reset"), attempt: 3 }); // null
 * ```
 */
export function exponentialBackoff(options: BackoffOptions = {}): RetryStrategy {
  const { maxAttempts = 3, baseDelayMs = 1000, maxDelayMs = 60_000, multiplier = 2 } = options;
  const { jitter = true, random = Math.random } = options;
  return ({ error, attempt }) => {
    if (!error.retryable || attempt >= maxAttempts) return null;
    if (error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, maxDelayMs);
    const delay = Math.min(baseDelayMs * multiplier ** (attempt - 1), maxDelayMs);
    return jitter ? Math.min(delay * (0.5 + random()), maxDelayMs) : delay;
  };
}
