/**
 * The queues of steering and follow-up messages.
 *
 * @module
 */

import type { QueuedMessage } from "../../core/events/event.ts";
import { type AgentMessage, copyMessages } from "../../core/messages/message.ts";
import type { MessageSource } from "./message_source.ts";

/** Which queued messages one turn takes: the next one, with the results of the tool calls that it makes, or all. */
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
  readonly #options: MessageQueueOptions;
  readonly #listeners = new Set<() => void>();
  /** Only appended to, so that a list of earlier messages can still be made. */
  #messages: QueuedMessage[] = [];
  /** Index of the next message; those before it were taken. */
  #first = 0;
  /** The messages that the latest run has taken last. Others that are no longer queued were removed. */
  taken: readonly AgentMessage[] = [];

  /** Creates an empty queue. */
  constructor(options: MessageQueueOptions = {}) {
    this.#options = options;
  }

  /** The queued messages, in order; a new array on each read. */
  get queued(): QueuedMessage[] {
    return this.#messages.slice(this.#first);
  }

  /** Number of queued messages. */
  get size(): number {
    return this.#messages.length - this.#first;
  }

  /** Returns a function that lists the messages which are queued now; the list takes time only when it is made. */
  snapshot(): () => readonly QueuedMessage[] {
    const messages = this.#messages;
    const range = [this.#first, messages.length] as const;
    return () => messages.slice(...range);
  }

  /**
   * Appends a message.
   *
   * @throws {BadRequestError} If the value is no message, or is not JSON.
   */
  add(message: AgentMessage): QueuedMessage {
    // A copy, since a turn takes the checked messages by identity, and one message may be queued twice.
    const [copy = message] = copyMessages([message]);
    const queued = { id: this.#options.newId?.() ?? crypto.randomUUID(), message: copy };
    this.#messages.push(queued);
    this.#options.onChange?.();
    // `onChange` may have taken the message back.
    if (this.#messages.lastIndexOf(queued) >= this.#first) {
      for (const listener of [...this.#listeners]) listener();
    }
    return queued;
  }

  /** Appends a message that a run could not deliver. */
  requeue(message: AgentMessage): void {
    this.add(message);
  }

  /** Removes a message; returns `false` if it is not queued. */
  cancel(id: string): boolean {
    const index = this.#messages.findIndex((queued) => queued.id === id);
    if (index < this.#first) return false;
    this.#messages = this.#messages.toSpliced(index, 1);
    this.#options.onChange?.();
    return true;
  }

  /** Removes all messages. */
  clear(): void {
    this.#drop(this.size);
  }

  /** Returns the messages that {@linkcode MessageQueue.take} would take now. */
  peek(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[] {
    let end = this.#first + 1;
    // The results of a reply with calls are taken with it.
    while (this.#messages[end]?.message.role === "tool_result") end++;
    if (this.#options.mode === "all") end = Infinity;
    const messages = this.#messages.slice(this.#first, end).map(({ message }) => message);
    return checked ? messages.filter((message) => checked.has(message)) : messages;
  }

  /**
   * Removes and returns the next message, or all messages, according to the mode; with `checked`, only those that it has,
   * which are the first ones.
   */
  take(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[] {
    this.taken = this.peek(checked);
    this.#drop(this.taken.length);
    return this.taken;
  }

  /** Calls `listener` whenever a message is added; returns a function that unsubscribes. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #drop(count: number): void {
    if (count === 0) return;
    this.#first += count;
    // A message is moved at most once on average.
    if (this.#first * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#first);
      this.#first = 0;
    }
    this.#options.onChange?.();
  }
}

/**
 * Whether a value is a queue of the library, which does not fail and delivers only checked messages. One of a class that
 * extends it is a queue of the application.
 */
export function isOwnQueue(value: unknown): value is MessageQueue {
  return Object(value).constructor === MessageQueue;
}
