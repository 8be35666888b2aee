/**
 * Model calls that are steps.
 *
 * @module
 */

import {
  AbortedError,
  getErrorMessage,
  NetworkError,
  StreamError,
} from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { Prices } from "../../core/models/usage.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { realSleep } from "../../core/ports/ports.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "../../core/streams/stream.ts";
import { GRACE_MS } from "../../loop/callbacks/cancellation.ts";
import type { GetApiKey } from "../../loop/run/config.ts";
import { hashJson } from "../steps/hash_json.ts";
import type { RunSteps } from "../steps/run_steps.ts";
import type { EndedStep } from "../steps/step_executor.ts";
import { DetachedError } from "../steps/step_journal.ts";
import { fromErrorRecord } from "../steps/step_record.ts";
import { isStoppedByPolicy, type PolicyChecks } from "./policy_checks.ts";
import { findRecordedRates, type RecordedRates } from "./recorded_rates.ts";
import { readRecordedReply, type RecordedReply, ReplyRecorder } from "./recorded_reply.ts";

/** Number of unread events at which the model is read no further. */
const MAX_UNREAD = 256;

/** A model call that is a step. */
export interface ModelStep {
  /** Name of the step. */
  readonly name: string;
  /** The request. */
  readonly request: StreamRequest;
  /** Calls the model. */
  readonly streamFn: StreamFn;
  /** Returns the API key, which is not recorded. Default: that of the request. */
  readonly getApiKey?: GetApiKey | undefined;
  /** Returns the prices of this process, as far as they are loaded. */
  readonly prices: () => Prices | undefined;
  /** The rates of recorded replies. */
  readonly rates: RecordedRates;
  /** The checks of policies. */
  readonly checks: PolicyChecks;
}

/** Calls the model with the key of its provider, for a run that is part of a step. */
export async function* streamWithKey(
  call: Pick<ModelStep, "request" | "streamFn" | "getApiKey">,
): AsyncGenerator<AssistantMessageEvent, void> {
  yield* await openStream(call);
}

async function openStream(
  { request, streamFn, getApiKey }: Pick<ModelStep, "request" | "streamFn" | "getApiKey">,
): Promise<AsyncIterable<AssistantMessageEvent>> {
  const apiKey = await getApiKey?.(request.model.provider);
  const options = apiKey === undefined ? request.options : { ...request.options, apiKey };
  return await streamFn({ ...request, options });
}

/** Calls the model as a step. The events are live when the step is executed, and the recorded ones when it is replayed. */
export function streamStep(
  steps: RunSteps,
  step: ModelStep,
): ReadableStream<AssistantMessageEvent> {
  const cancelled = new AbortController();
  let pulled = createDeferred<void>();
  return new ReadableStream<AssistantMessageEvent>({
    start(controller) {
      const write = async (event: AssistantMessageEvent): Promise<void> => {
        if (cancelled.signal.aborted) return;
        controller.enqueue(event);
        if ((controller.desiredSize ?? 1) > 0) return;
        pulled = createDeferred();
        await pulled.promise;
      };
      const untilRead = async (): Promise<void> => {
        while ((controller.desiredSize ?? MAX_UNREAD) < MAX_UNREAD && !cancelled.signal.aborted) {
          pulled = createDeferred();
          await pulled.promise;
        }
      };
      const signal = AbortSignal.any([step.request.signal, cancelled.signal]);
      void runStep(steps, { ...step, signal, write, untilRead }).then((last) => {
        if (cancelled.signal.aborted) return;
        controller.enqueue(last);
        controller.close();
      });
    },
    pull: () => pulled.resolve(),
    cancel(reason) {
      cancelled.abort(reason);
      pulled.resolve();
    },
  }, { highWaterMark: MAX_UNREAD });
}

interface WrittenStep extends ModelStep {
  /** Ends the call. */
  readonly signal: AbortSignal;
  /** Emits an event; resolves when the next one may be emitted. */
  readonly write: (event: AssistantMessageEvent) => Promise<void>;
  /** Resolves when all events are read. */
  readonly untilRead: () => Promise<void>;
}

/**
 * Emits all events but the terminal one, and returns that when the messages to the run are delivered: an abort thus
 * arrives at the same point of the reply in every replay. Never rejects.
 */
async function runStep(steps: RunSteps, step: WrittenStep): Promise<AssistantMessageEvent> {
  const { name, request, write, untilRead } = step;
  try {
    const [started] = steps.begin([{
      name,
      input: createInput(request),
      hasTimes: true,
      execute: (context) => callModel(steps, step, AbortSignal.any([context.signal, step.signal])),
    }]);
    const ended = await started;
    if (!ended) throw new StreamError("The step was not started");
    const reply = readReply(ended);
    const events = [...readRecordedReply(reply)];
    if (ended.isReplayed) {
      step.rates.set(request.model, reply.rates);
      // The events have the time of the first token, as in the first execution.
      if (reply.firstTokenAt !== undefined) steps.advance(reply.firstTokenAt);
      for (const event of events.slice(0, -1)) await write(event);
      await untilRead();
    }
    steps.advance(ended.at);
    if (ended.isReplayed && reply.isStopped) await step.checks.request();
    ended.deliver();
    ended.release();
    return events.at(-1) ?? createFailure(new NetworkError("The recorded reply has no end"));
  } catch (thrown) {
    return createFailure(new StreamError(getErrorMessage(thrown), { cause: thrown }));
  }
}

/**
 * The input that is compared in a replay: the model and the end of the conversation, in constant time. The system prompt
 * and the tools may change, since the recorded reply stays valid.
 */
function createInput({ model, context: { messages } }: StreamRequest): JsonValue {
  const { provider, modelId } = model;
  const last = messages.at(-1);
  const content = last && hashJson([last.role, last.content]);
  return [provider, modelId, messages.length, content ?? null];
}

function readReply({ outcome }: EndedStep): RecordedReply {
  if ("error" in outcome) throw fromErrorRecord(outcome.error);
  return outcome.value as unknown as RecordedReply;
}

async function callModel(
  steps: RunSteps,
  { request, streamFn, getApiKey, prices, rates, write }: WrittenStep,
  signal: AbortSignal,
): Promise<RecordedReply> {
  const recorder = new ReplyRecorder();
  rates.set(request.model, undefined);
  let firstTokenAt: number | undefined;
  let end: AssistantMessageEvent | undefined;
  try {
    const opening = openStream({ request: { ...request, signal }, streamFn, getApiKey });
    for await (const event of readUntilAborted(opening, signal)) {
      if (event?.type === "done" || event?.type === "error") {
        end = event;
        break;
      }
      recorder.add(event);
      if (firstTokenAt === undefined && event.type.endsWith("_delta")) {
        firstTokenAt = steps.readClock();
        steps.advance(firstTokenAt);
      }
      await write(event);
    }
  } catch (thrown) {
    end = createFailure(new StreamError(getErrorMessage(thrown), { cause: thrown }));
  }
  const isAborted = signal.aborted && end?.type !== "done";
  recorder.add(isAborted ? createAbort(end, signal) : end ?? createFailure(createCutError()));
  return {
    events: recorder.finish(),
    ...(firstTokenAt !== undefined && { firstTokenAt }),
    ...(isAborted && isStoppedByPolicy(request.signal) && { isStopped: true }),
    rates: await findRecordedRates({ model: request.model, streamFn, prices: prices() }, signal),
  };
}

function createCutError(): NetworkError {
  return new NetworkError("The model stream ended before the reply was complete");
}

/** Returns the terminal event of an aborted reply, with the usage that the model has still sent. */
function createAbort(
  end: AssistantMessageEvent | undefined,
  { reason }: AbortSignal,
): AssistantMessageEvent {
  if (end?.type === "error" && end.stopReason === "aborted") return end;
  return { type: "error", stopReason: "aborted", error: new AbortedError(getErrorMessage(reason)) };
}

function createFailure(error: StreamError | NetworkError): AssistantMessageEvent {
  return { type: "error", stopReason: "error", error };
}

/** Reads a source that is opened; after an abort only for as long as a source may take to end. */
async function* readUntilAborted(
  opening: Promise<AsyncIterable<AssistantMessageEvent>>,
  signal: AbortSignal,
): AsyncGenerator<AssistantMessageEvent, void> {
  const expired = createDeferred<IteratorResult<AssistantMessageEvent>>();
  const timer = new AbortController();
  const expire = () => expired.resolve({ done: true, value: undefined });
  const onAbort = () => {
    if (signal.reason instanceof DetachedError) return expire(); // The step no longer waits.
    void realSleep(GRACE_MS, timer.signal).then(expire);
  };
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  let iterator: AsyncIterator<AssistantMessageEvent> | undefined;
  try {
    const opened = opening.then((source) => ({ source }));
    const first = await Promise.race([opened, expired.promise]);
    if (!("source" in first)) return;
    iterator = first.source[Symbol.asyncIterator]();
    while (true) {
      const { done, value } = await Promise.race([iterator.next(), expired.promise]);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    timer.abort();
    // The `return()` of a source that hangs never settles.
    void Promise.resolve(iterator?.return?.()).catch(() => {});
  }
}
