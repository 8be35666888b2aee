/**
 * Calls the model until an attempt succeeds: retries of one model first, then the fallback models.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { type AgentError, getErrorMessage } from "../../core/errors/errors.ts";
import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { RetryStrategy } from "../../core/hooks/retry.ts";
import { cloneJson } from "../../core/json/json.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { addCost, addUsage, type Cost, type Usage } from "../../core/models/usage.ts";
import { realSleep } from "../../core/ports/ports.ts";
import type { ModelFallback } from "../run/config.ts";
import { addSpending } from "../run/run_progress.ts";
import type { RunServices } from "../run/run_services.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { type Attempt, attempt, type Candidate, createAbortedAttempt } from "./attempt.ts";
import type { PreparedRequest } from "./request.ts";
import { removeExtraTools } from "./usable_tools.ts";

/** The last attempt, and the tokens and cost of all attempts. */
export interface ModelCall {
  /** The last attempt. */
  readonly attempt: Attempt;
  /** The model of the last attempt. */
  readonly model: ModelSpec;
  /** Number of model calls so far in the turn. */
  readonly attempts: number;
  /** Number of the last attempt with its model, from 1. */
  readonly number: number;
  /** Tokens of all attempts. */
  readonly usage: Usage;
  /** Cost of all attempts. */
  readonly cost: Cost;
}

/** Options for `callWithFallback()`. */
export interface ModelCallOptions {
  /** Number of earlier model calls in the turn. */
  readonly attempts: number;
  /** Called before the first attempt, when its API key is known. */
  readonly onStart: () => Promise<void> | undefined;
}

/** Calls the model of the request, and the fallback models after it, while failures do not concern every model. */
export async function callWithFallback(
  turn: TurnContext,
  request: PreparedRequest,
  { attempts, onStart }: ModelCallOptions,
): Promise<ModelCall> {
  const { run } = turn;
  const fallbacks = run.config.fallback.values();
  let candidate = toCandidate(run, { model: request.model });
  let totals: AttemptTotals | undefined;
  let charged = turn;
  /** Number of the attempt with its model, from 1. */
  let number = 1;
  while (true) {
    const options = { candidate, request, number: (totals?.attempts ?? attempts) + 1, onStart };
    const last = await attempt(charged, options);
    const { model } = candidate;
    totals = addAttempt(totals ?? { attempts }, last);
    const call: ModelCall = { attempt: last, model, number, ...totals };
    const { error, hasOutput: discard } = last;
    const next = error && chooseNext(run, { candidate, last, error, number, fallbacks });
    if (!next) return call;
    if (turn.cancellation.aborted) {
      return { ...call, attempt: { ...createAbortedAttempt(turn), reply: last.reply } };
    }
    if (next.type === "retry") {
      const { delayMs } = next;
      await run.events.emit({ type: "retry", attempt: number, delayMs, error, discard });
      const isAborted = !await waitForRetry(turn, delayMs);
      if (isAborted) return { ...call, attempt: createAbortedAttempt(turn) };
      number++;
    } else {
      const [from, to] = [cloneJson(model), cloneJson(next.fallback.model)];
      await run.events.emit({ type: "model_fallback", from, to, discard });
      candidate = toCandidate(run, next.fallback);
      number = 1;
    }
    // Policies see what the earlier attempts have used.
    charged = { ...turn, progress: addSpending(turn.progress, totals) };
  }
}

/** A failed attempt, and what may follow it. */
interface FailedAttempt {
  readonly candidate: Candidate;
  readonly last: Attempt;
  readonly error: AgentError;
  /** Number of the attempt with its model, from 1. */
  readonly number: number;
  /** The models that were not called yet. */
  readonly fallbacks: Iterator<ModelFallback, undefined>;
}

/** The attempt that follows a failed one. */
type NextAttempt =
  | { readonly type: "retry"; readonly delayMs: number }
  | { readonly type: "fallback"; readonly fallback: ModelFallback };

/** Returns the attempt that follows a failed one: of the same model, or of the next one; `undefined` for none. */
function chooseNext(
  run: RunServices,
  { candidate, last, error, number, fallbacks }: FailedAttempt,
): NextAttempt | undefined {
  const delayMs = last.stopReason === "aborted"
    ? null
    : getRetryDelay(run, candidate.retry, { error, attempt: number });
  if (delayMs !== null) return { type: "retry", delayMs };
  const fallback = mayOtherModelReply(error) ? fallbacks.next().value : undefined;
  return fallback && { type: "fallback", fallback };
}

function toCandidate(run: RunServices, fallback: ModelFallback): Candidate {
  const { config } = run;
  const { model, streamFn = config.streamFn, getApiKey = config.getApiKey } = fallback;
  const { retry = config.retry, extra } = fallback;
  const fields = extra && removeExtraTools(run, extra, model.provider);
  return { model, streamFn, getApiKey, retry, extra: fields };
}

/** The number of attempts, and their tokens and cost. */
type AttemptTotals = Pick<ModelCall, "attempts" | "usage" | "cost">;

/** Adds the tokens and the cost of an attempt to those of the earlier ones, if there are any. */
function addAttempt(
  totals: Pick<ModelCall, "attempts"> & Partial<AttemptTotals>,
  { calls, usage, cost }: Attempt,
): AttemptTotals {
  return {
    attempts: totals.attempts + calls,
    usage: totals.usage ? addToDiscarded(totals.usage, usage) : usage,
    cost: totals.cost ? addCost(totals.cost, cost) : cost,
  };
}

/** Adds the usage of an attempt to that of the earlier ones, whose tokens `extra.discarded` counts. */
export function addToDiscarded(earlier: Usage, later: Usage): Usage {
  const { input, output, cacheRead, cacheWrite, extra } = earlier;
  const compaction = extra?.["compaction"] ?? 0;
  const discarded = input + output + cacheRead + cacheWrite - compaction;
  const counted = discarded > 0 ? { ...earlier, extra: { ...extra, discarded } } : earlier;
  return addUsage(counted, later);
}

/** Whether another model may reply to the request: after a failure that may pass, and when a quota is exhausted. */
function mayOtherModelReply({ code, retryable }: AgentError): boolean {
  return retryable || code === "model_throttled";
}

/** Returns the delay before the next attempt in milliseconds, or `null` to stop retrying. */
function getRetryDelay(
  run: RunServices,
  retry: RetryStrategy,
  failure: { readonly error: AgentError; readonly attempt: number },
): number | null {
  const { code } = failure.error;
  if (code === "context_window_overflow" || code === "aborted") return null;
  try {
    const delayMs: unknown = retry(failure);
    refusePromise(delayMs, "retry");
    if (delayMs === null || delayMs === undefined || delayMs === Infinity) return null;
    if (typeof delayMs === "number" && Number.isFinite(delayMs)) return Math.max(0, delayMs);
    throw new TypeError(`it must return milliseconds or null, not ${describeValue(delayMs)}`);
  } catch (thrown) {
    warnRetryFailed(run, thrown);
    return null;
  }
}

function warnRetryFailed({ events }: RunServices, thrown: unknown): void {
  const text = `The retry strategy failed, so the call is not retried: ${getErrorMessage(thrown)}`;
  void events.warn("retry_failed", text);
}

/** Waits before a retry; resolves to `false` if the turn was aborted meanwhile. */
async function waitForRetry(
  { run: { config }, cancellation }: TurnContext,
  milliseconds: number,
): Promise<boolean> {
  // Without a delay no clock must advance, but the event loop must continue, so that an abort can end endless retries.
  const wait = milliseconds > 0 ? config.sleep : realSleep;
  await cancellation.untilAborted(wait(milliseconds, cancellation.signal)).catch(() => {});
  return !cancellation.aborted;
}
