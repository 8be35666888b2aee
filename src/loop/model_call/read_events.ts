/**
 * Reads the events of a model stream until its end or an abort.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { ignoreRejections, refusePromise } from "../../core/errors/refuse_promise.ts";
import { EventLoopPause } from "../../core/ports/event_loop_pause.ts";
import type { AssistantMessageEvent } from "../../core/streams/stream.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";

/** Why reading ended: at the terminal event, at the end of a source without one, or by an abort. */
export type ReadOutcome = "terminal" | "closed" | "aborted";

/** Number of events between two checks of the clock. */
const EVENTS_PER_CLOCK_CHECK = 256;

/** Options for `readEvents()`. */
export interface ReadOptions {
  /** Ends reading immediately, even if the source never settles. */
  readonly cancellation: Cancellation;
  /** Called with every event; a returned promise is awaited before the next one. */
  accept(event: AssistantMessageEvent): Promise<void> | undefined;
  /** Called with the terminal event that a source still sends after an abort; it may carry the usage. */
  acceptTerminal(event: AssistantMessageEvent): void;
}

/**
 * Reads events until the terminal one, the end of the source, or an abort. Rejects with the error that the source or
 * `accept` throws.
 *
 * One promise handles the abort for the complete stream, since a `Promise.race()` per event takes thirteen times as
 * long. A source that never settles is abandoned.
 */
export function readEvents(
  source: AsyncIterable<AssistantMessageEvent>,
  options: ReadOptions,
): Promise<ReadOutcome> {
  if (options.cancellation.aborted) {
    closeUnread(source);
    return Promise.resolve("aborted");
  }
  return new Reading(openEvents(source), options).outcome;
}

/**
 * Reads one source to its end. Callbacks that are created once handle the results: an `await` for each event takes several
 * objects more, which adds up over the hundreds of thousands of events of long replies.
 */
class Reading {
  /** Settles when reading has ended. */
  readonly outcome: Promise<ReadOutcome>;
  readonly #events: AsyncIterator<AssistantMessageEvent>;
  readonly #options: ReadOptions;
  readonly #loopPause = new EventLoopPause();
  readonly #unsubscribe: () => void;
  #resolve: (outcome: ReadOutcome) => void = () => {};
  #reject: (thrown: unknown) => void = () => {};
  #abortTimer: ReturnType<typeof setTimeout> | undefined;
  /** Number of events before the terminal one. */
  #accepted = 0;
  /** While open, events are accepted; after an abort, only the terminal one is. */
  #state: "open" | "aborted" | "finished" = "open";

  constructor(events: AsyncIterator<AssistantMessageEvent>, options: ReadOptions) {
    this.#events = events;
    this.#options = options;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#unsubscribe = options.cancellation.onAbort(() => this.#onAbort());
    this.#readNext();
  }

  readonly #readNext = (): void => {
    if (this.#state === "finished") return;
    try {
      Promise.resolve(this.#events.next()).then(this.#onResult, this.#fail);
    } catch (thrown) {
      this.#fail(thrown);
    }
  };

  readonly #onResult = (result: IteratorResult<AssistantMessageEvent>): void => {
    if (this.#state === "finished") return;
    try {
      const { done, value } = result;
      if (done) return this.#finish(this.#state === "open" ? "closed" : "aborted");
      if (typeof value !== "object" || value === null) throw createEventError(value);
      const pause = this.#accept(value);
      if (pause) pause.then(this.#readNext, this.#fail);
      else this.#readNext();
    } catch (thrown) {
      ignoreRejections(result);
      this.#fail(thrown);
    }
  };

  /** Accepts an event; returns a promise if the next one must wait. */
  #accept(event: AssistantMessageEvent): Promise<void> | undefined {
    const isTerminal = event.type === "done" || event.type === "error";
    const isOpen = this.#state === "open";
    const accepted = isOpen ? this.#options.accept(event) : undefined;
    if (!isTerminal) return accepted ?? this.#pause();
    if (!isOpen) this.#options.acceptTerminal(event);
    this.#finish(isOpen ? "terminal" : "aborted");
    return undefined;
  }

  /** Counts an event; returns a promise if reading must wait, since its source never pauses. */
  #pause(): Promise<void> | undefined {
    return ++this.#accepted % EVENTS_PER_CLOCK_CHECK === 0 ? this.#loopPause.check() : undefined;
  }

  readonly #fail = (thrown: unknown): void => {
    this.#close();
    this.#reject(thrown);
  };

  #onAbort(): void {
    this.#state = "aborted";
    // A source that obeys the signal sends its terminal event within this task.
    this.#abortTimer = setTimeout(() => this.#finish("aborted"), 0);
  }

  /** Ends reading; the first outcome is the one that counts. */
  #finish(outcome: ReadOutcome): void {
    this.#close();
    this.#resolve(outcome);
  }

  #close(): void {
    if (this.#state === "finished") return;
    this.#state = "finished";
    this.#unsubscribe();
    if (this.#abortTimer !== undefined) clearTimeout(this.#abortTimer);
    closeEvents(this.#events);
    this.#loopPause.end();
  }
}

/** Closes a source that is not read: a stream holds its connection, an iterator that was not started holds nothing. */
export function closeUnread(source: AsyncIterable<AssistantMessageEvent>): void {
  if (isStream(source)) source.cancel().catch(() => {});
}

/** Whether a source is a stream; found by its method, because Deno loads its streams when their class is first named. */
function isStream(
  source: AsyncIterable<AssistantMessageEvent>,
): source is ReadableStream<AssistantMessageEvent> {
  return typeof (source as Partial<ReadableStream> | undefined)?.getReader === "function";
}

/** Returns the iterator of a source; for a native stream its reader, which is faster than its own iterator. */
function openEvents(
  source: AsyncIterable<AssistantMessageEvent>,
): AsyncIterator<AssistantMessageEvent> {
  if (isStream(source) && !Object.hasOwn(source, Symbol.asyncIterator)) {
    return iterateReader(source.getReader());
  }
  if (typeof source?.[Symbol.asyncIterator] !== "function") {
    throw new TypeError(
      `streamFn returned a value of type ${typeof source}, not a stream of events: ` +
        "pass createOpenAI(), for example, and not createOpenAI",
    );
  }
  const events = source[Symbol.asyncIterator]();
  refusePromise(events, "[Symbol.asyncIterator]");
  return events;
}

function createEventError(value: unknown): TypeError {
  return new TypeError(
    `an event must be an object such as { type: "start" }, not ${describeValue(value)}`,
  );
}

function iterateReader(
  reader: ReadableStreamDefaultReader<AssistantMessageEvent>,
): AsyncIterator<AssistantMessageEvent> {
  return {
    next: () => reader.read() as Promise<IteratorResult<AssistantMessageEvent>>,
    return: async (value) => {
      await reader.cancel();
      return { done: true, value };
    },
  };
}

/** Closes a source without waiting, since the `return()` of a generator that hangs never settles. */
function closeEvents(events: AsyncIterator<AssistantMessageEvent>): void {
  try {
    events.return?.().catch(() => {});
  } catch {
    // A source that cannot be closed is abandoned.
  }
}
