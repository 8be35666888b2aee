/**
 * Retry strategies for failed model calls.
 *
 * @module
 */

import { checkFunction } from "../checks/check_function.ts";
import { checkNames } from "../checks/check_names.ts";
import { checkNumber } from "../checks/check_number.ts";
import { checkObject } from "../checks/check_object.ts";
import type { AgentError } from "../errors/errors.ts";
import { resolvePorts } from "../ports/ports.ts";

/**
 * Returns the delay before the next attempt in milliseconds, or `null` to stop retrying; `attempt` is the number of the
 * failed attempt, from 1.
 *
 * It is not called for a context overflow or an abort, which are never retried, but for every other error, also for one
 * that is not `retryable`, such as an invalid key: a strategy that never returns `null` retries that without end.
 */
export interface RetryStrategy {
  (failure: { readonly error: AgentError; readonly attempt: number }): number | null;
  /** The longest delay that the strategy returns, in milliseconds, which also limits waits for a rate limit. */
  readonly maxDelayMs?: number | undefined;
}

/** Options for {@linkcode exponentialBackoff}. */
export interface BackoffOptions {
  /** Maximum number of attempts, including the first. Default: 3. */
  readonly maxAttempts?: number | undefined;
  /** Delay after the first failure, in milliseconds. Default: 1000. */
  readonly baseDelayMs?: number | undefined;
  /** Maximum delay, in milliseconds. Default: 60,000. */
  readonly maxDelayMs?: number | undefined;
  /** Factor between consecutive delays. Default: 2. */
  readonly multiplier?: number | undefined;
  /** Whether to multiply each delay by a random factor from 0.5 to 1.5. Default: `true`. */
  readonly jitter?: boolean | undefined;
  /** Returns a random number in [0, 1), for jitter. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/** With one that is no number, an agent would retry without end. */
const NUMBERS = ["maxAttempts", "baseDelayMs", "maxDelayMs", "multiplier"] as const;

/**
 * Creates a retry strategy whose delays grow exponentially. Only errors with `retryable: true` are retried. A delay
 * that the provider requests (`retryAfterMs`) replaces the computed one, up to `maxDelayMs`.
 *
 * @throws {BadRequestError} If an option is unknown, one of the numbers is not at least 0, or `random` is no function.
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
  checkObject(options, "Pass options such as { maxAttempts: 5 }");
  checkNames(options, [...NUMBERS, "jitter", "random"], "exponentialBackoff()");
  for (const name of NUMBERS) checkNumber(name, options[name]);
  if (options.random !== undefined) checkFunction("random", options.random);
  const { maxAttempts = 3, baseDelayMs = 1000, maxDelayMs = 60_000, multiplier = 2 } = options;
  const { jitter = true } = options;
  const { random } = resolvePorts({ random: options.random });
  const strategy: RetryStrategy = ({ error, attempt }) => {
    if (!error.retryable || attempt >= maxAttempts) return null;
    if (error.retryAfterMs !== undefined) return Math.min(error.retryAfterMs, maxDelayMs);
    const delay = Math.min(baseDelayMs * multiplier ** (attempt - 1), maxDelayMs);
    return jitter ? Math.min(delay * (0.5 + random()), maxDelayMs) : delay;
  };
  return Object.assign(strategy, { maxDelayMs });
}
