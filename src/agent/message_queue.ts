/**
 * Messages that wait for a run.
 *
 * @module
 */

import type { QueuedMessage } from "../core/event.ts";
import type { AgentMessage } from "../core/message.ts";
import type { MessageSource } from "../loop/message_source.ts";

/** How many messages are delivered at a time. */
export type QueueMode = "one_at_a_time" | "all";

/** What {@linkcode MessageQueue} takes. */
export interface MessageQueueOptions {
  /** How many messages are delivered at a time. Default: `"one_at_a_time"`. */
  readonly mode?: QueueMode;
  /** Makes ids of queued messages. Default: random UUIDs. */
  readonly newId?: () => string;
  /** Called after every change. */
  readonly onChange?: () => void;
}

/** A queue that the loop can take from. */
export class MessageQueue implements MessageSource {
  readonly #mode: QueueMode;
  readonly #newId: () => string;
  readonly #onChange: () => void;
  readonly #listeners = new Set<() => void>();
  #queued: readonly QueuedMessage[] = [];

  /** Makes an empty queue. */
  constructor(options: MessageQueueOptions = {}) {
    this.#mode = options.mode ?? "one_at_a_time";
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#onChange = options.onChange ?? (() => {});
  }

  /** What waits, in order; never changed afterwards. */
  get queued(): readonly QueuedMessage[] {
    return this.#queued;
  }

  /** Adds a message at the end. */
  add(message: AgentMessage): QueuedMessage {
    const queued = { id: this.#newId(), message };
    this.#replace([...this.#queued, queued]);
    for (const listener of [...this.#listeners]) listener();
    return queued;
  }

  /** Takes a message back; `false` when it does not wait any more. */
  cancel(id: string): boolean {
    const left = this.#queued.filter((queued) => queued.id !== id);
    if (left.length === this.#queued.length) return false;
    this.#replace(left);
    return true;
  }

  /** Takes everything back. */
  clear(): void {
    if (this.#queued.length > 0) this.#replace([]);
  }

  /** What {@linkcode take} would give now. */
  peek(): readonly AgentMessage[] {
    return this.#next().map(({ message }) => message);
  }

  /** Takes the next message, or all of them, as the mode says. */
  take(): readonly AgentMessage[] {
    const taken = this.#next();
    if (taken.length > 0) this.#replace(this.#queued.slice(taken.length));
    return taken.map(({ message }) => message);
  }

  /** Tells `listener` whenever a message arrives; returns how to stop. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #next(): readonly QueuedMessage[] {
    return this.#mode === "all" ? this.#queued : this.#queued.slice(0, 1);
  }

  #replace(waiting: readonly QueuedMessage[]): void {
    this.#queued = waiting;
    this.#onChange();
  }
}
