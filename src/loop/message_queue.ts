/**
 * The queues of steering and follow-up messages.
 *
 * @module
 */

import type { QueuedMessage } from "../core/event.ts";
import type { AgentMessage } from "../core/message.ts";
import type { MessageSource } from "./message_source.ts";

/** Which queued messages one turn takes: the next one, or all. */
export type QueueMode = "one_at_a_time" | "all";

/** Options for `new MessageQueue()`. */
export interface MessageQueueOptions {
  /** Which queued messages one turn takes. Default: `"one_at_a_time"`. */
  readonly mode?: QueueMode | undefined;
  /** Creates ids of queued messages. Default: random UUIDs. */
  readonly newId?: (() => string) | undefined;
  /** Called after every change. */
  readonly onChange?: (() => void) | undefined;
}

/** A queue of messages for a run. */
export class MessageQueue implements MessageSource {
  readonly #mode: QueueMode;
  readonly #newId: () => string;
  readonly #onChange: () => void;
  readonly #listeners = new Set<() => void>();
  #queued: readonly QueuedMessage[] = [];

  /** Creates an empty queue. */
  constructor(options: MessageQueueOptions = {}) {
    this.#mode = options.mode ?? "one_at_a_time";
    this.#newId = options.newId ?? (() => crypto.randomUUID());
    this.#onChange = options.onChange ?? (() => {});
  }

  /** The queued messages, in order; a new array after every change. */
  get queued(): readonly QueuedMessage[] {
    return this.#queued;
  }

  /** Appends a message. */
  add(message: AgentMessage): QueuedMessage {
    const queued = { id: this.#newId(), message };
    this.#replace([...this.#queued, queued]);
    // `onChange` may have taken the message back.
    if (this.#queued.includes(queued)) { for (const listener of [...this.#listeners]) listener(); }
    return queued;
  }

  /** Removes a message; returns `false` if it is not queued. */
  cancel(id: string): boolean {
    const remaining = this.#queued.filter((queued) => queued.id !== id);
    if (remaining.length === this.#queued.length) return false;
    this.#replace(remaining);
    return true;
  }

  /** Removes all messages. */
  clear(): void {
    if (this.#queued.length > 0) this.#replace([]);
  }

  /** Returns the messages that {@linkcode MessageQueue.take} would take now. */
  peek(): readonly AgentMessage[] {
    return this.#next().map(({ message }) => message);
  }

  /** Removes and returns the next message, or all messages, according to the mode. */
  take(): readonly AgentMessage[] {
    const taken = this.#next();
    if (taken.length > 0) this.#replace(this.#queued.slice(taken.length));
    return taken.map(({ message }) => message);
  }

  /** Calls `listener` whenever a message is added; returns a function that unsubscribes. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #next(): readonly QueuedMessage[] {
    return this.#mode === "all" ? this.#queued : this.#queued.slice(0, 1);
  }

  #replace(queued: readonly QueuedMessage[]): void {
    this.#queued = queued;
    this.#onChange();
  }
}
