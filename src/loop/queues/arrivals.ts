/**
 * The arrivals of steering messages, from the start of a run.
 *
 * @module
 */

import type { MessageSource } from "./message_source.ts";

/** Watches the steering queue of a run, also before the code is loaded that takes messages from it. */
export class Arrivals {
  readonly #listeners = new Set<() => void>();
  #source: MessageSource | undefined;
  #count = 0;
  #unsubscribe: (() => void) | undefined;

  /** The queue; `undefined` until it is watched. */
  get source(): MessageSource | undefined {
    return this.#source;
  }

  /** Number of messages that were queued so far. */
  get count(): number {
    return this.#count;
  }

  /** Watches a queue. */
  watch(source: MessageSource): void {
    this.#source = source;
    this.#unsubscribe = source.onArrival?.(() => {
      this.#count++;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** Calls `listener` whenever a message is queued; returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Unsubscribes from the queue. */
  dispose(): void {
    this.#unsubscribe?.();
  }
}
