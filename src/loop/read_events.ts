/**
 * Reads a model's stream, and stops reading when the run is aborted.
 *
 * @module
 */

import type { AssistantMessageEvent } from "../core/stream.ts";
import type { Cancellation } from "./cancellation.ts";

/** How reading ended. */
export type ReadEnd = "terminal" | "closed" | "aborted";

/** Takes the next event; a promise when the reading should wait. */
export type TakeEvent = (event: AssistantMessageEvent) => Promise<void> | undefined;

/** How many events are read before the clock is looked at. */
const EVENTS_PER_LOOK = 256;
/** A source that never lets other tasks run is made to after this many milliseconds. */
const LONGEST_BURST_MS = 8;

/** What {@linkcode readEvents} takes. */
export interface ReadOptions {
  /** Ends the reading at once, also when the source never answers. */
  readonly cancellation: Cancellation;
  /** Takes the events. */
  readonly take: TakeEvent;
}

/**
 * Reads events until the terminal one, the end, or the abort. Rejects with whatever the source or `take`
 * throws.
 *
 * One promise serves the whole stream: a race per event would cost thirteen times as much.
 */
export function readEvents(
  source: AsyncIterable<AssistantMessageEvent>,
  { cancellation, take }: ReadOptions,
): Promise<ReadEnd> {
  if (cancellation.aborted) return Promise.resolve("aborted");
  return new Promise((resolve, reject) => {
    const reading = openSource(source);
    const burst = new Burst();
    let over = false;
    const finish = (settle: () => void) => {
      if (over) return;
      over = true;
      stopListening();
      reading.close();
      settle();
    };
    const fail = (thrown: unknown) => finish(() => reject(thrown));
    const step = (result: IteratorResult<AssistantMessageEvent>) => {
      if (over) return;
      if (result.done) return finish(() => resolve("closed"));
      try {
        const waiting = take(result.value);
        const { type } = result.value;
        if (type === "done" || type === "error") return finish(() => resolve("terminal"));
        const pause = waiting ?? burst.pause();
        if (pause) pause.then(next, fail);
        else next();
      } catch (thrown) {
        fail(thrown);
      }
    };
    const next = () => void (over || reading.next().then(step, fail));
    const stopListening = cancellation.onAbort(() => finish(() => resolve("aborted")));
    next();
  });
}

interface Reading {
  next(): Promise<IteratorResult<AssistantMessageEvent>>;
  close(): void;
}

/** A native stream is read through its reader, which is cheaper than its iterator. */
function openSource(source: AsyncIterable<AssistantMessageEvent>): Reading {
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

/** Lets timers and input run when a source answers without ever pausing. */
class Burst {
  #events = 0;
  #since = performance.now();

  pause(): Promise<void> | undefined {
    if (++this.#events % EVENTS_PER_LOOK !== 0) return undefined;
    if (performance.now() - this.#since < LONGEST_BURST_MS) return undefined;
    return new Promise((resolve) =>
      setTimeout(() => {
        this.#since = performance.now();
        resolve();
      }, 0)
    );
  }
}
