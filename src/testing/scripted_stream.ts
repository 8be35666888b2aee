/**
 * A model that answers from a script.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import {
  AbortedError,
  type AgentError,
  BadRequestError,
  getErrorMessage,
  StreamError,
} from "../core/errors/errors.ts";
import { isJsonObject } from "../core/json/json.ts";
import { realSleep, type Sleep } from "../core/ports/ports.ts";
import type {
  AssistantMessageEvent,
  BlockEndEvent,
  StreamFn,
  StreamRequest,
} from "../core/streams/stream.ts";
import { fail, type ScriptedEvents, type ScriptedStep, toEvents } from "./script.ts";

/** A {@linkcode StreamFn} that plays a script and records its requests. */
export interface ScriptedStream extends StreamFn {
  /** Snapshots of the requests, in order. */
  readonly calls: readonly StreamRequest[];
  /**
   * Checks that there was one call for each step.
   *
   * @throws {Error} If there were fewer or more calls.
   */
  assertDone(): void;
}

/** Options for {@linkcode scriptedStream}: properties of the stream function, and its pace. */
export interface ScriptedStreamOptions
  extends Pick<StreamFn, "hasStrictSchema" | "prices" | "contextWindow"> {
  /** Delay before each delta, in milliseconds. Default: 0, without a wait. */
  readonly deltaMs?: number | undefined;
  /** Port: waits. Default: `setTimeout`. */
  readonly sleep?: Sleep | undefined;
}

const OPTION_NAMES = ["hasStrictSchema", "prices", "contextWindow", "deltaMs", "sleep"];

/**
 * Creates a {@linkcode StreamFn} that answers each model call with the next step of a script.
 *
 * A call after the last step, and a step that throws, end with an `error` event of a {@linkcode StreamError}. An abort
 * ends the reply with an `error` event of stop reason `"aborted"`. Tool calls without an id are numbered across the
 * script: `call_1`, `call_2`, …
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
  if (!Array.isArray(steps) || !steps.every(isStep)) {
    throw new BadRequestError('Pass an array of steps, such as [reply("Hello")]');
  }
  checkObject(options, "Pass options such as { deltaMs: 10 }");
  checkNames(options, OPTION_NAMES, "scriptedStream()");
  const { deltaMs = 0, sleep = realSleep, ...properties } = options;
  const calls: StreamRequest[] = [];
  let toolCallCount = 0;
  const newId = (): string => `call_${++toolCallCount}`;
  const streamFn: StreamFn = (request) => {
    const { systemPrompt, messages, tools } = request.context;
    calls.push({
      ...request,
      context: { systemPrompt, messages: [...messages], tools: [...tools] },
    });
    const step = steps[calls.length - 1] ?? fail(
      "stream_error",
      `No step for model call ${calls.length}: the script has ${formatStepCount(steps.length)}`,
    );
    return createPlayback(
      request,
      (signal) => playStep(step, { request, newId, signal, deltaMs, sleep }),
    );
  };
  const assertDone = (): void => {
    if (calls.length === steps.length) return;
    const times = calls.length === 1 ? "once" : `${calls.length} times`;
    throw new Error(
      `The script has ${formatStepCount(steps.length)}, but the model was called ${times}`,
    );
  };
  return Object.assign(streamFn, properties, { calls, assertDone });
}

function isStep(step: unknown): boolean {
  return typeof step === "function" || isEvents(step);
}

function isEvents(value: unknown): value is ScriptedEvents {
  return Array.isArray(value) ||
    (isJsonObject(value) && ("type" in value || Symbol.asyncIterator in value));
}

type EventGenerator = AsyncGenerator<AssistantMessageEvent, void>;

interface PlaybackOptions {
  readonly deltaMs: number;
  readonly sleep: Sleep;
  readonly request: StreamRequest;
  readonly newId: () => string;
  /** Fires when the request is aborted or the stream is cancelled. */
  readonly signal: AbortSignal;
}

/** Streams events as they are pulled. On abort, or when the step throws, closes open blocks and ends with `error`. */
function createPlayback(
  request: StreamRequest,
  play: (signal: AbortSignal) => EventGenerator,
): AsyncIterable<AssistantMessageEvent> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(request.signal.reason);
  request.signal.addEventListener("abort", onAbort);
  if (request.signal.aborted) onAbort();
  const removeListener = (): void => request.signal.removeEventListener("abort", onAbort);
  const events = ensureTerminal(play(controller.signal), controller.signal);
  return new ReadableStream<AssistantMessageEvent>({
    async pull(stream): Promise<void> {
      const { done, value } = await events.next();
      if (!done) return stream.enqueue(value);
      removeListener();
      stream.close();
    },
    cancel(): void {
      removeListener();
      controller.abort();
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

/** Tracks the streamed events, to close open blocks and end the reply at any point. */
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

async function* playStep(step: ScriptedStep, options: PlaybackOptions): EventGenerator {
  const { request, newId, signal } = options;
  if (signal.aborted) return;
  const events = typeof step === "function"
    ? await raceAbort(async () => await step(request), signal)
    : step;
  // The signal fired while the function was running.
  if (events === undefined && signal.aborted) return;
  if (!isEvents(events)) {
    throw new BadRequestError(
      `it must return an answer, such as reply("Hello"), not ${describeValue(events)}`,
    );
  }
  if ("type" in events) {
    yield* paceEvents(toEvents(events, newId), options);
    if (events.type !== "hang") return;
    await (events.options.ignoresSignal ? new Promise(() => {}) : realSleep(Infinity, signal));
  } else if (Symbol.asyncIterator in events) {
    yield* readUntilAborted(events, signal);
  } else {
    yield* paceEvents(events, options);
  }
}

async function* paceEvents(
  events: readonly AssistantMessageEvent[],
  { deltaMs, sleep, signal }: PlaybackOptions,
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
    // Not awaited: the return() of a hanging generator never settles.
    iterator.return?.().catch(() => {});
  }
}

/** Waits for a promise; resolves to `undefined` if the signal fires first. */
function raceAbort<Value>(
  operation: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(undefined);
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    operation().then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function formatStepCount(steps: number): string {
  return steps === 1 ? "1 step" : `${steps} steps`;
}
