/**
 * The retry strategy of a run.
 *
 * @module
 */

import type { ModelSpec } from "../../../mod.ts";
import { exponentialBackoff, type RetryStrategy } from "../../../src/core/hooks/retry.ts";

/** The longest wait that a provider may request; the run fails rather than wait longer. */
const MAX_WAIT_MS = 3_600_000;

/** The longest wait that the provider of a model may request while another model can continue. */
const MAX_FALLBACK_WAIT_MS = 60_000;

/** Options for `createRetryStrategy()`. */
export interface RetryStrategyOptions {
  /** Whether a recording answers the retries, so that there is nothing to wait for. Default: `false`. */
  readonly isReplay?: boolean;
  /** Whether another model continues when the retries end. Default: `false`. */
  readonly hasFallback?: boolean;
}

/** Creates a strategy that waits as long as the provider requests: a retry before that time would fail, too. */
export function createRetryStrategy(
  { isReplay = false, hasFallback = false }: RetryStrategyOptions = {},
): RetryStrategy {
  const maxDelayMs = hasFallback ? MAX_FALLBACK_WAIT_MS : MAX_WAIT_MS;
  const backOff = exponentialBackoff({ maxDelayMs });
  const retry: RetryStrategy = (failure) => {
    // The same key would be rejected again, also where the error is marked so that another model continues.
    if (failure.error.code === "auth_error") return null;
    const delay = (failure.error.retryAfterMs ?? 0) > maxDelayMs ? null : backOff(failure);
    return isReplay && delay !== null ? 0 : delay;
  };
  return Object.assign(retry, { maxDelayMs });
}

/** The retries of a model, and the models that continue when it fails. */
export interface Retries {
  /** The strategy of the model. */
  readonly retry: RetryStrategy;
  /** The other models, in order. */
  readonly fallback: { readonly model: ModelSpec; readonly retry: RetryStrategy }[];
}

/** Creates the strategies of a model and of those that continue when it fails; only the last one is waited for longer. */
export function createRetries(
  fallbackModels: readonly ModelSpec[],
  options: Pick<RetryStrategyOptions, "isReplay">,
): Retries {
  const create = (position: number) =>
    createRetryStrategy({ ...options, hasFallback: position < fallbackModels.length });
  return {
    retry: create(0),
    fallback: fallbackModels.map((model, index) => ({ model, retry: create(index + 1) })),
  };
}
