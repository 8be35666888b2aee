/**
 * A queue of events that is read as an iterator.
 *
 * @module
 */

import type { AssistantMessageEvent } from "./stream.ts";

/** Options for `new EventQueue()`. */
export interface EventQueueOptions {
  /** Called before the first event is read. */
  readonly onStart: () => void;
  /** Called when the reader leaves before the end. */
  readonly onLeave: () => void;
}

type ReadResult = IteratorResult<AssistantMessageEvent, undefined>;

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Reads before the array of events is trimmed, so that the cost of trimming is amortized. */
const TRIM_AFTER = 256;

/** Passes events from one writer to one reader, without the cost of a `ReadableStream` for each reply. */
export class EventQueue implements AsyncIterableIterator<AssistantMessageEvent, undefined> {
  readonly #options: EventQueueOptions;
  #events: AssistantMessageEvent[] = [];
  #head = 0;
  #isStarted = false;
  #isClosed = false;
  readonly #reads: ((result: ReadResult) => void)[] = [];
  #drains: (() => void)[] = [];

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  /** Returns the queue itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Appends an event; ignored if the queue is closed. */
  push(value: AssistantMessageEvent): void {
    if (this.#isClosed) return;
    const resolve = this.#reads.shift();
    if (resolve) resolve({ done: false, value });
    else this.#events.push(value);
  }

  /** Ends the queue after the events in it. */
  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#reads.splice(0)) resolve(DONE);
    this.#resolveDrains();
  }

  /** Resolves when every event has been read, or the queue is closed. */
  drained(): Promise<void> {
    if (this.#isClosed || this.#events.length === this.#head) return Promise.resolve();
    return new Promise((resolve) => this.#drains.push(resolve));
  }

  /** Reads an event. */
  next(): Promise<ReadResult> {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#options.onStart();
    }
    const value = this.#events[this.#head];
    if (value) {
      this.#advance();
      return Promise.resolve({ done: false, value });
    }
    if (this.#isClosed) return Promise.resolve(DONE);
    return new Promise((resolve) => this.#reads.push(resolve));
  }

  /** Discards the events that are not read. */
  return(): Promise<ReadResult> {
    this.#isStarted = true;
    if (!this.#isClosed) this.#options.onLeave();
    this.close();
    this.#events = [];
    this.#head = 0;
    return Promise.resolve(DONE);
  }

  #advance(): void {
    this.#head++;
    const isEmpty = this.#head === this.#events.length;
    if (isEmpty || this.#head >= TRIM_AFTER && this.#head * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
    if (isEmpty) this.#resolveDrains();
  }

  #resolveDrains(): void {
    if (this.#drains.length === 0) return;
    const drains = this.#drains;
    this.#drains = [];
    for (const resolve of drains) resolve();
  }
}
