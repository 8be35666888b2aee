/**
 * Reads a model's stream, and stops reading when the run is aborted.
 *
 * @module
 */

import type { AssistantMessageEvent } from "../core/stream.ts";
import type { Cancellation } from "./cancellation.ts";

/** How reading ended. */
export type ReadOutcome = "terminal" | "closed" | "aborted";

/** Takes the next event; a promise when the reading should wait. */
export type AcceptEvent = (event: AssistantMessageEvent) => Promise<void> | undefined;

/** How many events are read before the clock is looked at. */
const EVENTS_PER_CLOCK_CHECK = 256;
/** A source that never lets other tasks run is made to after this many milliseconds. */
const MAX_BLOCKING_MS = 8;

/** What {@linkcode readEvents} takes. */
export interface ReadOptions {
  /** Ends the reading at once, also when the source never answers. */
  readonly cancellation: Cancellation;
  /** Takes the events. */
  readonly accept: AcceptEvent;
  /** Takes the terminal event of a source that obeys the abort: it may tell what was used. */
  readonly acceptTerminal: (event: AssistantMessageEvent) => void;
}

/**
 * Reads events until the terminal one, the end, or the abort. Rejects with whatever the source or `take`
 * throws.
 *
 * The abort is one promise for the whole stream: a race per event would cost thirteen times as much. A source
 * that never answers is left waiting.
 */
export function readEvents(
  source: AsyncIterable<AssistantMessageEvent>,
  { cancellation, accept: take, acceptTerminal: takeLast }: ReadOptions,
): Promise<ReadOutcome> {
  if (cancellation.aborted) return Promise.resolve("aborted");
  const reading = openSource(source);
  const burst = new EventLoopYield();
  return new Promise((resolve, reject) => {
    let stage: ReadState = "open";
    let lastCall: ReturnType<typeof setTimeout> | undefined;
    const stopListening = cancellation.onAbort(() => {
      stage = "aborted";
      // A source that obeys answers within this task, so nobody waits longer.
      lastCall = setTimeout(() => finish(() => resolve("aborted")), 0);
    });
    const finish = (settle: () => void) => {
      if (stage === "over") return;
      stage = "over";
      stopListening();
      clearTimeout(lastCall);
      reading.close();
      burst.dispose();
      settle();
    };
    readAll(reading, { accept: take, acceptTerminal: takeLast, pacer: burst, state: () => stage })
      .then(
        (end) => finish(() => resolve(end)),
        (thrown) => finish(() => reject(thrown)),
      );
  });
}

/** Events are taken while it is open; after an abort, only the last one is. */
type ReadState = "open" | "aborted" | "over";

interface ReadLoopOptions extends Pick<ReadOptions, "accept" | "acceptTerminal"> {
  readonly pacer: EventLoopYield;
  readonly state: () => ReadState;
}

async function readAll(
  reading: EventReader,
  { accept: take, acceptTerminal: takeLast, pacer: burst, state: stage }: ReadLoopOptions,
): Promise<ReadOutcome> {
  while (true) {
    const { done, value } = await reading.next();
    const now = stage();
    if (done) return now === "open" ? "closed" : "aborted";
    const isLast = value.type === "done" || value.type === "error";
    if (now === "open") {
      const waiting = take(value);
      if (isLast) return "terminal";
      const pause = waiting ?? burst.pause();
      if (pause) await pause;
    } else {
      if (isLast) takeLast(value);
      if (isLast || now === "over") return "aborted";
      await burst.pause();
    }
  }
}

interface EventReader {
  next(): Promise<IteratorResult<AssistantMessageEvent>>;
  close(): void;
}

/** A native stream is read through its reader, which is cheaper than its iterator. */
function openSource(source: AsyncIterable<AssistantMessageEvent>): EventReader {
  if (source instanceof ReadableStream && !Object.hasOwn(source, Symbol.asyncIterator)) {
    const reader: ReadableStreamDefaultReader<AssistantMessageEvent> = source.getReader();
    return {
      next: () => reader.read() as Promise<IteratorResult<AssistantMessageEvent>>,
      close: () => reader.cancel().catch(() => {}),
    };
  }
  const iterator = source[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    // The return of a generator that hangs never settles, so nobody waits for it.
    close: () => void iterator.return?.().then(undefined, () => {}),
  };
}

/**
 * Lets timers and input run when a source answers without ever pausing. Most sources pause by themselves, which a
 * timer on the side finds out: only if that never fires is the reading held up for it.
 */
class EventLoopYield {
  #events = 0;
  #lastYieldAt = performance.now();
  #probe: ReturnType<typeof setTimeout> | undefined;
  #resumeReading: (() => void) | undefined;

  /** A promise when the reading should wait. */
  pause(): Promise<void> | undefined {
    if (++this.#events % EVENTS_PER_CLOCK_CHECK !== 0) return undefined;
    if (performance.now() - this.#lastYieldAt < MAX_BLOCKING_MS) return undefined;
    if (this.#probe !== undefined) return new Promise((resolve) => this.#resumeReading = resolve);
    this.#probe = setTimeout(() => this.#onTimer(), 0);
    return undefined;
  }

  /** Forgets the timer. */
  dispose(): void {
    clearTimeout(this.#probe);
  }

  #onTimer(): void {
    this.#probe = undefined;
    this.#lastYieldAt = performance.now();
    this.#resumeReading?.();
    this.#resumeReading = undefined;
  }
}
