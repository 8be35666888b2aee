/**
 * A model that says what a test tells it to.
 *
 * @module
 */

import { AbortedError, type AgentError, getErrorMessage, StreamError } from "../core/errors.ts";
import type {
  AssistantMessageEvent,
  BlockEndEvent,
  StreamFn,
  StreamRequest,
} from "../core/stream.ts";
import {
  fail,
  type ScriptedAnswer,
  type ScriptedEvents,
  type ScriptedStep,
  toEvents,
} from "./script.ts";
import { realSleep, type Sleep } from "../core/ports.ts";

/** A {@linkcode StreamFn} that plays a script and remembers what it was asked. */
export interface ScriptedStream extends StreamFn {
  /** The requests it got, in order, as they were when they came. */
  readonly calls: readonly StreamRequest[];
  /**
   * Checks that the script has been played, no more and no less.
   *
   * @throws {Error} When steps are left, or calls came after the last step.
   */
  assertDone(): void;
}

/** How a script is played. */
export interface ScriptedStreamOptions {
  /** Milliseconds to wait before each delta. Default: 0, without any wait. */
  readonly deltaMs?: number;
  /** How to wait. Default: by the real clock. */
  readonly sleep?: Sleep;
}

/**
 * Makes a {@linkcode StreamFn} that answers each model call with the next step, and needs no network.
 *
 * A call beyond the last step gets an `error` event of a {@linkcode StreamError}. An abort ends the reply with
 * `error` of stop reason `"aborted"`. Tool calls without an id are numbered through the script: `call_1`,
 * `call_2`, …
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const streamFn = scriptedStream([
 *   reply([toolCall("weather", { city: "Bern" })]),
 *   reply("It is sunny in Bern."),
 * ]);
 * const weather = fakeTool({ name: "weather", result: "sunny" });
 * const agent = new Agent({ model: "test/model", streamFn, tools: [weather] });
 * await agent.prompt("How is the weather in Bern?");
 * streamFn.assertDone();
 * weather.calls[0]?.arguments; // { city: "Bern" }
 * ```
 */
export function scriptedStream(
  steps: readonly ScriptedStep[],
  options: ScriptedStreamOptions = {},
): ScriptedStream {
  const calls: StreamRequest[] = [];
  let toolCalls = 0;
  const newId = (): string => `call_${++toolCalls}`;
  const streamFn: StreamFn = (request) => {
    const step = steps[calls.length] ?? createMissingStep(calls.length + 1, steps.length);
    calls.push(snapshotRequest(request));
    return createPlayback(
      request,
      (signal) => playStep(step, { request, newId, signal, ...options }),
    );
  };
  const assertDone = (): void => {
    if (calls.length === steps.length) return;
    const called = calls.length === 1 ? "once" : `${calls.length} times`;
    throw new Error(
      `The script has ${formatStepCount(steps.length)}, but the model was called ${called}`,
    );
  };
  return Object.assign(streamFn, { calls, assertDone });
}

type EventGenerator = AsyncGenerator<AssistantMessageEvent, void>;

interface PlaybackOptions extends ScriptedStreamOptions {
  readonly request: StreamRequest;
  readonly newId: () => string;
  /** Fires when the request is aborted, and when nobody reads on. */
  readonly signal: AbortSignal;
}

/** Plays events one by one as they are asked for; ends them legally on abort, and when making them fails. */
function createPlayback(
  request: StreamRequest,
  make: (signal: AbortSignal) => EventGenerator,
): AsyncIterable<AssistantMessageEvent> {
  const stop = new AbortController();
  const abort = (): void => stop.abort(request.signal.reason);
  request.signal.addEventListener("abort", abort);
  if (request.signal.aborted) abort();
  const release = (): void => request.signal.removeEventListener("abort", abort);
  const events = ensureTerminal(make(stop.signal), stop.signal);
  return new ReadableStream<AssistantMessageEvent>({
    async pull(controller): Promise<void> {
      const { done, value } = await events.next();
      if (!done) return controller.enqueue(value);
      release();
      controller.close();
    },
    cancel(): void {
      release();
      stop.abort();
    },
  }, { highWaterMark: 0 });
}

async function* ensureTerminal(events: EventGenerator, signal: AbortSignal): EventGenerator {
  const progress = new PlaybackProgress();
  try {
    for await (const event of events) {
      progress.record(event);
      yield event;
    }
    if (signal.aborted) {
      const error = new AbortedError("The request was aborted", { cause: signal.reason });
      yield* progress.terminate("aborted", error);
    }
  } catch (cause) {
    const error = new StreamError(`A scripted step failed: ${getErrorMessage(cause)}`, { cause });
    yield* progress.terminate("error", error);
  }
}

/** What has been played so far: enough to end it at any moment. */
class PlaybackProgress {
  #started = false;
  #ended = false;
  readonly #open = new Map<number, BlockEndEvent["type"]>();

  record(event: AssistantMessageEvent): void {
    switch (event.type) {
      case "start":
        this.#started = true;
        return;
      case "text_start":
      case "thinking_start":
        this.#open.set(
          event.contentIndex,
          event.type === "text_start" ? "text_end" : "thinking_end",
        );
        return;
      case "tool_call_start":
        this.#open.set(event.contentIndex, "tool_call_end");
        return;
      case "text_end":
      case "thinking_end":
      case "tool_call_end":
        this.#open.delete(event.contentIndex);
        return;
      case "done":
      case "error":
        this.#ended = true;
    }
  }

  *terminate(stopReason: "error" | "aborted", error: AgentError): Generator<AssistantMessageEvent> {
    if (this.#ended) return;
    if (!this.#started) yield { type: "start" };
    for (const [contentIndex, type] of this.#open) yield { type, contentIndex };
    yield { type: "error", stopReason, error };
  }
}

async function* playStep(step: ScriptedStep, playing: PlaybackOptions): EventGenerator {
  const { request, newId, signal } = playing;
  if (signal.aborted) return;
  const found = typeof step === "function"
    ? await raceAbort(async () => await step(request), signal)
    : step;
  if (found === undefined) return;
  if (isScriptedAnswer(found)) {
    yield* paceEvents(toEvents(found, newId), playing);
    if (found.type === "hang") await waitForAbort(found.options.ignoresSignal ? undefined : signal);
  } else if (isEventList(found)) {
    yield* paceEvents(found, playing);
  } else {
    yield* readUntilAborted(found, signal);
  }
}

async function* paceEvents(
  events: readonly AssistantMessageEvent[],
  { deltaMs = 0, sleep = realSleep, signal }: PlaybackOptions,
): EventGenerator {
  for (const event of events) {
    if (deltaMs > 0 && "delta" in event) await sleep(deltaMs, signal);
    if (signal.aborted) return;
    yield event;
  }
}

async function* readUntilAborted(
  events: AsyncIterable<AssistantMessageEvent>,
  signal: AbortSignal,
): EventGenerator {
  const iterator = events[Symbol.asyncIterator]();
  try {
    while (true) {
      const next = await raceAbort(() => iterator.next(), signal);
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } finally {
    // An iterator that hangs does not even settle its return.
    iterator.return?.().catch(() => {});
  }
}

/** What the work gives, or `undefined` once the signal has fired. */
function raceAbort<Value>(
  work: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(undefined);
    const giveUp = (): void => resolve(undefined);
    signal.addEventListener("abort", giveUp, { once: true });
    work().then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}

function waitForAbort(signal: AbortSignal | undefined): Promise<void> {
  return signal ? realSleep(Infinity, signal) : new Promise(() => {});
}

function createMissingStep(call: number, steps: number): ScriptedStep {
  return fail(
    "stream_error",
    `Model call ${call} has no step: the script has ${formatStepCount(steps)}`,
  );
}

function formatStepCount(steps: number): string {
  return steps === 1 ? "1 step" : `${steps} steps`;
}

function snapshotRequest(request: StreamRequest): StreamRequest {
  const { systemPrompt, messages, tools } = request.context;
  const context = { systemPrompt, messages: [...messages], tools: [...tools] };
  return { ...request, context };
}

function isScriptedAnswer(events: ScriptedEvents): events is ScriptedAnswer {
  return "type" in events;
}

function isEventList(events: ScriptedEvents): events is readonly AssistantMessageEvent[] {
  return Array.isArray(events);
}
