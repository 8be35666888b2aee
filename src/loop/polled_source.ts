/**
 * A queue that reads its messages from a function.
 *
 * @module
 */

import { type AgentMessage, copyMessages } from "../core/message.ts";
import type { MessageSource } from "./message_source.ts";

/** Returns the messages that have arrived since the last call. */
export type GetMessages = () =>
  | readonly AgentMessage[]
  | Promise<readonly AgentMessage[]>;

/** Reads messages from a function before each turn and after each tool call. */
export class PolledSource implements MessageSource {
  readonly #getMessages: GetMessages;
  readonly #onFailure: (thrown: unknown) => void;
  readonly #listeners = new Set<() => void>();
  #messages: readonly AgentMessage[] = [];

  /** Creates a source; `onFailure` is called when the function throws, rejects or returns no messages. */
  constructor(getMessages: GetMessages, onFailure: (thrown: unknown) => void) {
    this.#getMessages = getMessages;
    this.#onFailure = onFailure;
  }

  /** Calls the function. Never rejects. */
  async poll(): Promise<void> {
    try {
      const messages = parseMessages(await this.#getMessages());
      if (messages.length === 0) return;
      this.#messages = [...this.#messages, ...messages];
      for (const listener of [...this.#listeners]) listener();
    } catch (thrown) {
      this.#onFailure(thrown);
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
