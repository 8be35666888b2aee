/**
 * The steering messages of one run.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import type { MessageSource } from "./message_source.ts";

/** Watches the steering queue for one run. */
export class Steering {
  readonly #listeners = new Set<() => void>();
  #source: MessageSource | undefined;
  #unsubscribe: (() => void) | undefined;
  #arrived = false;
  #canTakeLate = false;

  /** Watches a queue; until then there are no messages. */
  watch(source: MessageSource): void {
    this.#source = source;
    this.#unsubscribe = source.onArrival?.(() => this.#notifyArrival());
  }

  /** Whether a message was queued since the last {@linkcode Steering.take} and is still queued. */
  get arrived(): boolean {
    return this.#arrived && this.peek().length > 0;
  }

  /** Reads a source that must be asked for messages; returns `undefined` if it need not. */
  poll(): Promise<void> | undefined {
    return this.#source?.poll?.();
  }

  /** Returns the messages that the next turn would take. */
  peek(): readonly AgentMessage[] {
    return this.#source?.peek() ?? [];
  }

  /** Takes the messages for a turn. */
  take(): readonly AgentMessage[] {
    const messages = this.#source?.take() ?? [];
    this.#arrived = false;
    this.#canTakeLate = messages.length === 0;
    return messages;
  }

  /**
   * Takes messages that were queued while the request was prepared; only once per turn, and only if it took none
   * before.
   */
  takeLate(): readonly AgentMessage[] {
    const messages = this.#canTakeLate ? this.take() : [];
    this.#canTakeLate = false;
    return messages;
  }

  /** Calls `listener` whenever a message is queued; returns a function that unsubscribes. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Unsubscribes from the queue. */
  dispose(): void {
    this.#unsubscribe?.();
  }

  #notifyArrival(): void {
    this.#arrived = true;
    for (const listener of [...this.#listeners]) listener();
  }
}
