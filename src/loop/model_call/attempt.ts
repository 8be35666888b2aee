/**
 * One attempt of a model call: resolves its options, calls the model, and adds the cost of the reply.
 *
 * @module
 */

import { type AgentError, BudgetExceededError } from "../../core/errors/errors.ts";
import { isThenable } from "../../core/errors/refuse_promise.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { RetryStrategy } from "../../core/hooks/retry.ts";
import { cloneJson, type JsonObject } from "../../core/json/json.ts";
import { copyAmounts } from "../../core/messages/copy_message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { type Cost, zeroCost, zeroUsage } from "../../core/models/usage.ts";
import type {
  AssistantMessageEvent,
  StreamFn,
  StreamOptions,
  StreamRequest,
} from "../../core/streams/stream.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import { toHookError } from "../callbacks/hook_error.ts";
import type { GetApiKey } from "../run/config.ts";
import { loadFacts, lookUpLimit } from "../run/model_facts.ts";
import { calculateCost, getPrices, lookUpRates } from "../run/price.ts";
import { addSpending } from "../run/run_progress.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { usesPreRequest } from "./pre_request.ts";
import { closeUnread, readEvents, type ReadOutcome } from "./read_events.ts";
import { toAbortedError, toStreamError } from "./reply_end.ts";
import { type PreparedRequest, resolveStreamOptions } from "./request.ts";
import { type ReplyOutcome, StreamedReply } from "./streamed_reply.ts";

/** A model to call, with its own options. */
export interface Candidate {
  /** The model. */
  readonly model: ModelSpec;
  /** Calls the model. */
  readonly streamFn: StreamFn;
  /** Returns the API key of the model's provider. */
  readonly getApiKey: GetApiKey | undefined;
  /** Decides whether a failed call is retried. */
  readonly retry: RetryStrategy;
  /** Additional fields of the request body, in place of those of the request. */
  readonly extra?: JsonObject | undefined;
}

/** The result of an attempt. */
export interface Attempt extends ReplyOutcome {
  /** Cost of the attempt. */
  readonly cost: Cost;
  /** Number of model calls: 0 if the attempt ended before it called the model. */
  readonly calls: 0 | 1;
}

/** Options for `attempt()`. */
export interface AttemptOptions {
  /** The model to call. */
  readonly candidate: Candidate;
  /** The request. */
  readonly request: PreparedRequest;
  /** Number of the model call in the turn, from 1. */
  readonly number: number;
  /** Called before the model is called, when the API key is known. */
  readonly onStart: () => Promise<void> | undefined;
}

/** Calls the model once. Never rejects: every failure is an {@linkcode Attempt}. */
export async function attempt(turn: TurnContext, options: AttemptOptions): Promise<Attempt> {
  const { run, cancellation } = turn;
  const { candidate, request, number, onStart } = options;
  let streamOptions: StreamOptions | undefined;
  try {
    const resolved = resolveStreamOptions(turn, candidate, request);
    streamOptions = resolved instanceof Promise ? await resolved : resolved;
  } catch (thrown) {
    if (!cancellation.aborted) return createFailedAttempt(toHookError("getApiKey", thrown));
  }
  if (!streamOptions || cancellation.aborted) return createAbortedAttempt(turn);
  const reply = new StreamedReply(turn, request.tools);
  const checked = turn.monitor && checkStart(turn, candidate, reply);
  if (checked) await checked;
  if (cancellation.aborted) return createAbortedAttempt(turn);
  const started = onStart();
  if (started) await started;
  const position = { turn: turn.progress.turn, attempt: number, model: cloneJson(candidate.model) };
  void run.events.emit({ type: "model_call_start", ...position });
  const delivered = run.untilDelivered();
  if (delivered) await delivered;
  const startedAt = run.config.now();
  const call = createCall(turn, options, streamOptions);
  const read = () => readReply(turn, reply, call);
  const outcome = await (run.observer ? run.observer.callModel(call.request, read) : read());
  const durationMs = run.config.now() - startedAt;
  const loading = loadPrices(turn, candidate);
  if (loading) await loading;
  const result = chargeReply(turn, candidate, { reply, outcome });
  const { usage, cost, responseId, error } = result;
  const { firstTokenAt } = reply;
  const ended = run.events.emit({
    type: "model_call_end",
    ...position,
    ...(firstTokenAt !== undefined && { ttftMs: firstTokenAt - startedAt }),
    durationMs,
    usage: copyAmounts(usage),
    cost: copyAmounts(cost),
    ...(responseId !== undefined && { responseId }),
    ...(error && { error }),
  });
  if (ended) await ended;
  return result;
}

/** Calls the `onDelta` policies before a call; returns a promise if its prices must be loaded first. */
function checkStart(
  turn: TurnContext,
  { model, streamFn }: Candidate,
  reply: StreamedReply,
): Promise<void> | undefined {
  const { run, progress, monitor } = turn;
  const check = (): void => {
    const prices = getPrices(run, streamFn);
    const maxOutputTokens = lookUpLimit(model, streamFn.maxOutputTokens);
    monitor?.start({ model, prices, progress, reply, maxOutputTokens });
  };
  if (usesPreRequest(run) && streamFn.loadFacts) return loadFacts(streamFn, turn).then(check);
  check();
  return undefined;
}

/** A call of the model, whose request gets its signal when it is made. */
interface StreamCall {
  readonly streamFn: StreamFn;
  readonly request: Omit<StreamRequest, "signal">;
}

function createCall(
  { run: { runId }, progress: { turn } }: TurnContext,
  { candidate: { model, streamFn, retry: { maxDelayMs } }, request: { context } }: AttemptOptions,
  options: StreamOptions,
): StreamCall {
  const maxWait = maxDelayMs !== undefined && { maxWaitMs: maxDelayMs };
  return { streamFn, request: { model, context, options, runId, turn, ...maxWait } };
}

/** A reply that has ended. */
interface EndedReply {
  readonly reply: StreamedReply;
  readonly outcome: ReplyOutcome;
}

/**
 * Loads the prices of a stream function that has not been called, since the reply comes from a cache or a record; returns a
 * promise if there is something to load.
 */
function loadPrices(
  turn: TurnContext,
  { model, streamFn }: Candidate,
): Promise<void> | undefined {
  if (!streamFn.loadFacts) return undefined;
  const rates = lookUpRates(getPrices(turn.run, streamFn), model);
  return rates ? undefined : loadFacts(streamFn, turn);
}

/** Adds the cost of a reply, and passes it to the monitor. */
function chargeReply(
  { run, progress, monitor }: TurnContext,
  { model, streamFn }: Candidate,
  { reply, outcome }: EndedReply,
): Attempt {
  const prices = getPrices(run, streamFn);
  const cost = calculateCost(run, outcome, { model, prices });
  const { usage, error } = outcome;
  if (error && usage.total === 0 && reply.characters > 0) {
    // Budgets estimate an attempt that reports no usage, which may have ended between two checks.
    monitor?.update({ model, prices, progress, reply });
  }
  monitor?.update({ model, prices, progress: addSpending(progress, { usage, cost }) });
  return { ...outcome, cost, calls: 1 };
}

/** Calls the model and reads its events into the reply. Never rejects. */
function readReply(
  { cancellation }: TurnContext,
  reply: StreamedReply,
  { streamFn, request }: StreamCall,
): Promise<ReplyOutcome> {
  // A listener of `model_call_start` may have aborted the turn.
  if (cancellation.aborted) return Promise.resolve(reply.finish("aborted"));
  // A signal for each call, so that what listens to it is released with the call.
  const controller = new AbortController();
  const unsubscribe = cancellation.onAbort((reason) => controller.abort(reason));
  const release = (): void => {
    reply.stopPreload();
    unsubscribe();
  };
  const fail = (thrown: unknown): ReplyOutcome => {
    release();
    return reply.fail(toStreamError(thrown));
  };
  const finish = (outcome: ReadOutcome): ReplyOutcome => {
    try {
      release();
      return reply.finish(outcome);
    } catch (thrown) {
      return fail(thrown);
    }
  };
  try {
    const source = openSource(streamFn({ ...request, signal: controller.signal }), cancellation);
    reply.startPreload();
    const reading = source instanceof Promise
      ? source.then((stream) => readEvents(stream, reply))
      : readEvents(source, reply);
    return reading.then(finish, fail);
  } catch (thrown) {
    return Promise.resolve(fail(thrown));
  }
}

/** Returns the stream; an untyped function may return a promise of it. */
function openSource(
  source: AsyncIterable<AssistantMessageEvent>,
  cancellation: Cancellation,
): AsyncIterable<AssistantMessageEvent> | Promise<AsyncIterable<AssistantMessageEvent>> {
  if (!isThenable(source)) return source;
  const opening = source as PromiseLike<AsyncIterable<AssistantMessageEvent>>;
  return cancellation.untilAborted(opening).catch((thrown) => {
    opening.then(closeUnread, () => {});
    throw thrown;
  });
}

function createOutcomeWithoutOutput(): Omit<Attempt, "stopReason"> {
  return {
    reply: { content: [], calls: [] },
    hasOutput: false,
    usage: zeroUsage(),
    cost: zeroCost(),
    calls: 0,
  };
}

/** Creates the result of an attempt that failed before anything was sent. */
function createFailedAttempt(error: AgentError): Attempt {
  return { ...createOutcomeWithoutOutput(), stopReason: "error", error };
}

/** Creates the result of an attempt that was not made because the turn was aborted, or was stopped by a policy. */
export function createAbortedAttempt(
  { run, monitor }: TurnContext,
  stoppedBy: StoppedBy | undefined = monitor?.stoppedBy,
): Attempt {
  const outcome = { ...createOutcomeWithoutOutput(), stopReason: "aborted" } as const;
  if (!stoppedBy) return { ...outcome, error: toAbortedError(run.cancellation.reason) };
  return { ...outcome, error: new BudgetExceededError(stoppedBy.reason), stoppedBy };
}
