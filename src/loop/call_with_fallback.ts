/**
 * Asking until there is an answer: retries of one model, then the fallback models.
 *
 * @module
 */

import type { ModelSpec } from "../core/model.ts";
import type { LlmContext, StreamFn } from "../core/stream.ts";
import type { RetryStrategy } from "../core/retry.ts";
import { addCost, addUsage, type Cost, type Usage, zeroCost, zeroUsage } from "../core/usage.ts";
import { type Attempt, attempt, createAbortedError } from "./attempt.ts";
import type { GetApiKey } from "./config.ts";
import { calculateCost } from "./price.ts";
import { resolveStreamOptions } from "./request.ts";
import { toHookError } from "./hook_error.ts";
import type { RunContext } from "./run_context.ts";

/** The last attempt, with what all of them used. */
export interface Answer {
  /** The attempt that counts. */
  readonly attempt: Attempt;
  /** The model that was asked last. */
  readonly model: ModelSpec;
  /** Tokens of all attempts. */
  readonly usage: Usage;
  /** Cost of all attempts. */
  readonly cost: Cost;
}

/** A model and how it is asked. */
interface Candidate {
  readonly model: ModelSpec;
  readonly streamFn: StreamFn;
  readonly getApiKey: GetApiKey | undefined;
  readonly retry: RetryStrategy;
}

/** Asks the model, and the fallback models after it, as long as the failures may pass. */
export async function callWithFallback(
  run: RunContext,
  model: ModelSpec,
  context: LlmContext,
): Promise<Answer> {
  const spending = new UsageTotals(run);
  const [first, ...others] = createCandidates(run, model);
  let candidate = first;
  let last = await callWithRetry(run, candidate, { context, spending });
  for (const next of others) {
    if (!last.error?.retryable) break;
    await run.emit({ type: "model_fallback", from: candidate.model, to: next.model });
    candidate = next;
    last = await callWithRetry(run, candidate, { context, spending });
  }
  return { attempt: last, model: candidate.model, usage: spending.usage, cost: spending.cost };
}

function createCandidates(run: RunContext, model: ModelSpec): [Candidate, ...Candidate[]] {
  const { streamFn, getApiKey, retry, fallback } = run.config;
  const first = { model, streamFn, getApiKey, retry };
  return [first, ...fallback.map((other) => ({ ...first, ...other }))];
}

interface CallContext {
  readonly context: LlmContext;
  readonly spending: UsageTotals;
}

async function callWithRetry(
  run: RunContext,
  candidate: Candidate,
  { context, spending }: CallContext,
): Promise<Attempt> {
  for (let number = 1;; number++) {
    const tried = await callOnce(run, candidate, context);
    await spending.add(candidate.model, tried);
    const delayMs = getRetryDelay(run, candidate.retry, { tried, number });
    if (delayMs === null || !tried.error) return tried;
    const { error, shown: discard } = tried;
    await run.emit({ type: "retry", attempt: number, delayMs, error, discard });
    if (!await waitForRetry(run, delayMs)) return createAbortedAttempt(run);
  }
}

async function callOnce(
  run: RunContext,
  candidate: Candidate,
  context: LlmContext,
): Promise<Attempt> {
  const { model, streamFn, getApiKey } = candidate;
  try {
    const options = await resolveStreamOptions(run, { model, getApiKey });
    if (run.cancellation.aborted) return createAbortedAttempt(run);
    return await attempt(run, streamFn, { model, context, options });
  } catch (thrown) {
    if (run.cancellation.aborted) return createAbortedAttempt(run);
    return { ...NOTHING, stopReason: "error", error: toHookError("getApiKey", thrown) };
  }
}

interface AttemptRecord {
  readonly tried: Attempt;
  readonly number: number;
}

/** How long to wait for the next attempt, or `null` when there is none. */
function getRetryDelay(
  run: RunContext,
  retry: RetryStrategy,
  { tried, number }: AttemptRecord,
): number | null {
  const { error, stopReason } = tried;
  if (!error || stopReason === "aborted" || run.cancellation.aborted) return null;
  if (error.code === "context_window_overflow" || error.code === "aborted") return null;
  try {
    const delayMs = retry({ error, attempt: number });
    return Number.isFinite(delayMs) ? delayMs : null;
  } catch (thrown) {
    void run.warn(
      "retry_failed",
      `The retry strategy failed: ${toHookError("retry", thrown).message}`,
    );
    return null;
  }
}

/** Waits; `false` when the run was aborted meanwhile. */
async function waitForRetry(run: RunContext, milliseconds: number): Promise<boolean> {
  const { cancellation, config } = run;
  await cancellation.untilAborted(config.sleep(milliseconds, cancellation.signal)).catch(() => {});
  return !cancellation.aborted;
}

const NOTHING = { reply: { content: [], calls: [] }, shown: false, usage: zeroUsage() };

/** An attempt that was not made because the run was aborted. */
export function createAbortedAttempt(run: RunContext): Attempt {
  return { ...NOTHING, stopReason: "aborted", error: createAbortedError(run) };
}

/** Adds up what attempts use. */
class UsageTotals {
  readonly #run: RunContext;
  usage: Usage = zeroUsage();
  cost: Cost = zeroCost();

  constructor(run: RunContext) {
    this.#run = run;
  }

  async add(model: ModelSpec, { usage, cost }: Attempt): Promise<void> {
    this.usage = addUsage(this.usage, usage);
    this.cost = addCost(
      this.cost,
      await calculateCost(this.#run, model, { usage, reportedCost: cost }),
    );
  }
}
