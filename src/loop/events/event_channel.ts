/**
 * The stream of a run's events, with back-pressure.
 *
 * @module
 */

import type { AgentEvent } from "../../core/events/event.ts";
import { ReadableQueue } from "../../core/ports/readable_queue.ts";

/** Number of events that a run may be ahead of its reader. */
export const HIGH_WATER_MARK = 256;

/** Options for `new EventChannel()`. */
export interface EventChannelOptions {
  /** Called once when the reader cancels, with its reason; the returned promise settles with the run. */
  readonly onCancel: (reason: unknown) => Promise<void>;
}

/**
 * Passes the events of a run to the reader of its stream.
 *
 * The writer waits when it is {@linkcode HIGH_WATER_MARK} events ahead, and can wait until every event is read.
 */
export class EventChannel {
  readonly #queue: ReadableQueue<AgentEvent>;
  #unbounded = false;
  #writers: (() => void)[] = [];

  constructor({ onCancel }: EventChannelOptions) {
    this.#queue = new ReadableQueue<AgentEvent>({
      onEmpty: () => this.#resumeWriters(),
      cancel: (reason, wasOpen) => {
        this.#resumeWriters();
        return wasOpen ? onCancel(reason) : undefined;
      },
    });
  }

  /** Appends an event; returns a promise when the writer should wait for the reader. */
  write(event: AgentEvent): Promise<void> | undefined {
    this.#queue.push(event);
    if (this.#unbounded || this.#queue.size < HIGH_WATER_MARK) return undefined;
    return this.#waitForReader();
  }

  /** Resolves when the reader has taken every event; returns `undefined` if none is queued. */
  drained(): Promise<void> | undefined {
    if (this.#unbounded || !this.#queue.isOpen || this.#queue.size === 0) return undefined;
    return this.#waitForReader().then(() => this.drained());
  }

  /** Removes the limit and resumes waiting writers, so that an aborted run does not wait for its reader. */
  release(): void {
    this.#unbounded = true;
    this.#resumeWriters();
  }

  /** Ends the stream after the queued events. */
  close(): void {
    this.#queue.close();
    this.#resumeWriters();
  }

  /** Errors the stream after the queued events. */
  fail(error: unknown): void {
    this.#queue.fail(error);
    this.#resumeWriters();
  }

  /** Discards all events, for a run whose stream is not read; its writer never waits. */
  discard(): void {
    this.release();
    this.#queue.discard();
  }

  /** Creates the reader's side; call it once. */
  stream(): ReadableStream<AgentEvent> {
    return this.#queue.stream();
  }

  #waitForReader(): Promise<void> {
    return new Promise((resolve) => this.#writers.push(resolve));
  }

  #resumeWriters(): void {
    if (this.#writers.length === 0) return;
    const writers = this.#writers;
    this.#writers = [];
    for (const resume of writers) resume();
  }
}
