/**
 * The messages to a run that have arrived in this process.
 *
 * @module
 */

import type { ReceivedMessage } from "../../core/durable/durable_steps.ts";
import type { RunInbox } from "./step_journal.ts";

/** An inbox that an engine fills. */
export class MessageInbox implements RunInbox {
  readonly #listeners = new Set<() => void>();
  #messages: readonly ReceivedMessage[] = [];

  /** Number of the last message; 0 if there is none. */
  get last(): number {
    return this.#messages.at(-1)?.number ?? 0;
  }

  /** Adds messages, in order; those that arrived already are ignored. */
  add(messages: readonly ReceivedMessage[]): void {
    const added = messages.filter(({ number }) => number > this.last);
    if (added.length === 0) return;
    this.#messages = [...this.#messages, ...added];
    for (const listener of [...this.#listeners]) listener();
  }

  read(after: number): readonly ReceivedMessage[] {
    return this.last > after ? this.#messages.filter(({ number }) => number > after) : [];
  }

  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
