/**
 * Calls the model until an attempt succeeds: retries of one model first, then the fallback models.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";
import type { ModelSpec } from "../core/model.ts";
import type { RetryStrategy } from "../core/retry.ts";
import type { LlmContext } from "../core/stream.ts";
import { addCost, addUsage, type Cost, type Usage, zeroCost, zeroUsage } from "../core/usage.ts";
import { type Attempt, attempt, type Candidate, createAbortedAttempt } from "./attempt.ts";
import { calculateCost } from "./price.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnContext } from "./turn_context.ts";

/** The last attempt, and the tokens and cost of all attempts. */
export interface ModelCall {
  /** The last attempt. */
  readonly attempt: Attempt;
  /** The model of the last attempt. */
  readonly model: ModelSpec;
  /** Tokens of all attempts. */
  readonly usage: Usage;
  /** Cost of all attempts. */
  readonly cost: Cost;
}

/** Calls the model of the turn, and the fallback models after it, while failures are retryable. */
export async function callWithFallback(turn: TurnContext, context: LlmContext): Promise<ModelCall> {
  const { run, settings } = turn;
  const { streamFn, getApiKey, retry, fallback } = run.config;
  let candidate: Candidate = { model: settings.model, streamFn, getApiKey, retry };
  const fallbacks = fallback.map((overrides): Candidate => ({ ...candidate, ...overrides }));
  const totals = { usage: zeroUsage(), cost: zeroCost() };
  for (let number = 1;; number++) {
    const last = await attempt(turn, candidate, context);
    totals.usage = addUsage(totals.usage, last.usage);
    totals.cost = addCost(totals.cost, await calculateCost(run, candidate.model, last));
    const { error } = last;
    const delayMs = getRetryDelay(run, candidate.retry, { last, number });
    if (error && delayMs !== null) {
      const discard = last.hasOutput;
      await run.events.emit({ type: "retry", attempt: number, delayMs, error, discard });
      if (await waitForRetry(run, delayMs)) continue;
      return { attempt: createAbortedAttempt(run), model: candidate.model, ...totals };
    }
    const next = error?.retryable ? fallbacks.shift() : undefined;
    if (!next) return { attempt: last, model: candidate.model, ...totals };
    await run.events.emit({ type: "model_fallback", from: candidate.model, to: next.model });
    candidate = next;
    number = 0;
  }
}

interface AttemptRecord {
  readonly last: Attempt;
  /** Number of the attempt with this model, from 1. */
  readonly number: number;
}

/** Returns the delay before the next attempt in milliseconds, or `null` to stop retrying. */
function getRetryDelay(
  run: RunServices,
  retry: RetryStrategy,
  { last: { error, stopReason }, number }: AttemptRecord,
): number | null {
  if (!error || stopReason === "aborted" || run.cancellation.aborted) return null;
  if (error.code === "context_window_overflow" || error.code === "aborted") return null;
  try {
    const delayMs = retry({ error, attempt: number });
    return Number.isFinite(delayMs) ? delayMs : null;
  } catch (thrown) {
    const text = `The retry strategy failed, so the call is not retried: ${
      getErrorMessage(thrown)
    }`;
    void run.events.warn("retry_failed", text);
    return null;
  }
}

/** Waits before a retry; resolves to `false` if the run was aborted meanwhile. */
async function waitForRetry(
  { cancellation, config }: RunServices,
  milliseconds: number,
): Promise<boolean> {
  await cancellation.untilAborted(config.sleep(milliseconds, cancellation.signal)).catch(() => {});
  return !cancellation.aborted;
}
