/**
 * A queue that reads its messages from a function.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { isThenable } from "../../core/errors/refuse_promise.ts";
import { type AgentMessage, copyMessages } from "../../core/messages/message.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { EventPipe } from "../events/event_pipe.ts";
import { GuardedSource } from "./guarded_source.ts";
import type { MessageQueue } from "./message_queue.ts";
import type { MessageSource } from "./message_source.ts";

/** Returns the messages that have arrived since the last call. */
export type GetMessages = () =>
  | readonly AgentMessage[]
  | Promise<readonly AgentMessage[]>;

/** Options for `toMessageSource()`. */
export interface SourceOptions {
  /** Whether a queue is one of the library, which cannot fail. */
  readonly isOwnQueue: (source: unknown) => source is MessageQueue;
  /** Emits the failures. */
  readonly events: EventPipe;
  /** The abort of the run. */
  readonly cancellation: Cancellation;
}

/**
 * Returns the queue of a run; a function is read before each turn and after each tool call. Failures of the application's
 * function or queue are reported as `warning` events.
 */
export function toMessageSource(
  source: MessageSource | GetMessages,
  { events, cancellation, isOwnQueue }: SourceOptions,
): MessageSource {
  if (isOwnQueue(source)) return source;
  const onFailure = (thrown: unknown): void => {
    const message = `The message queue failed: ${getErrorMessage(thrown)}`;
    void events.warn("message_source_failed", message);
  };
  const options = { onFailure, cancellation };
  return typeof source === "function"
    ? new PolledSource(source, options)
    : new GuardedSource(source, options);
}

/** Options for `new PolledSource()`. */
export interface PolledSourceOptions {
  /** Called with the first of several failures in a row: the function throws, rejects or returns no messages. */
  readonly onFailure: (thrown: unknown) => void;
  /** After its abort the function is not called, since its messages would be lost with the run. */
  readonly cancellation: Cancellation;
}

/** Reads messages from a function before each turn and after each tool call. */
export class PolledSource implements MessageSource {
  readonly #getMessages: GetMessages;
  readonly #options: PolledSourceOptions;
  readonly #listeners = new Set<() => void>();
  #messages: readonly AgentMessage[] = [];
  /** Whether the last call failed; the next failure in a row is not reported again. */
  #isFailing = false;

  /** Creates a source that has no messages before its first {@linkcode PolledSource.poll}. */
  constructor(getMessages: GetMessages, options: PolledSourceOptions) {
    this.#getMessages = getMessages;
    this.#options = options;
  }

  /** Calls the function, unless the run was aborted. Never rejects. */
  async poll(): Promise<void> {
    const { cancellation, onFailure } = this.#options;
    if (cancellation.aborted) return;
    try {
      const returned = this.#getMessages();
      const messages = parseMessages(
        isThenable(returned) ? await cancellation.withGrace(returned) : returned,
      );
      this.#isFailing = false;
      if (messages.length === 0) return;
      this.#messages = [...this.#messages, ...messages];
      for (const listener of [...this.#listeners]) listener();
    } catch (thrown) {
      if (!this.#isFailing) onFailure(thrown);
      this.#isFailing = true;
    }
  }

  /** Returns the messages that were read and not taken yet. */
  peek(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** Removes and returns all messages. */
  take(): readonly AgentMessage[] {
    const messages = this.#messages;
    this.#messages = [];
    return messages;
  }

  /** Calls `listener` whenever messages were read; returns a function that unsubscribes. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

function parseMessages(messages: unknown): readonly AgentMessage[] {
  if (messages === undefined || messages === null) return [];
  if (!Array.isArray(messages)) throw new TypeError("it must return an array of messages");
  return copyMessages(messages);
}
