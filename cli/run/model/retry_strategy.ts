/**
 * The retry strategy of a run.
 *
 * @module
 */

import { exponentialBackoff, type RetryStrategy } from "../../../src/core/hooks/retry.ts";

/** The longest wait that a provider may request; the run fails rather than wait longer. */
const MAX_WAIT_MS = 3_600_000;

/** Options for `createRetryStrategy()`. */
export interface RetryStrategyOptions {
  /** Whether a recording answers the retries, so that there is nothing to wait for. Default: `false`. */
  readonly isReplay?: boolean;
}

/** Creates a strategy that waits as long as the provider requests: a retry before that time would fail, too. */
export function createRetryStrategy(
  { isReplay = false }: RetryStrategyOptions = {},
): RetryStrategy {
  const backOff = exponentialBackoff({ maxDelayMs: MAX_WAIT_MS });
  const retry: RetryStrategy = (failure) => {
    const delay = (failure.error.retryAfterMs ?? 0) > MAX_WAIT_MS ? null : backOff(failure);
    return isReplay && delay !== null ? 0 : delay;
  };
  return Object.assign(retry, { maxDelayMs: MAX_WAIT_MS });
}
