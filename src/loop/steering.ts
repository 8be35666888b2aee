/**
 * Steering as a run sees it: what waits, what has arrived, who is told.
 *
 * @module
 */

import type { AgentMessage } from "../core/message.ts";
import type { MessageSource } from "./message_source.ts";

/** Watches a source of steering for one run. */
export class Steering {
  readonly #source: MessageSource | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: (() => void) | undefined;
  #arrived = false;
  #canTakeLate = false;

  /** Begins to watch. */
  constructor(source: MessageSource | undefined) {
    this.#source = source;
    this.#unsubscribe = source?.onArrival?.(() => this.#notifyArrival());
  }

  /** Whether a message arrived since the last one was taken, and was not taken back. */
  get arrived(): boolean {
    return this.#arrived && this.peek().length > 0;
  }

  /** What waits. */
  peek(): readonly AgentMessage[] {
    return this.#source?.peek() ?? [];
  }

  /** Takes what goes into the coming turn. */
  take(): readonly AgentMessage[] {
    const messages = this.#source?.take() ?? [];
    this.#arrived = false;
    this.#canTakeLate = messages.length === 0;
    return messages;
  }

  /** Takes, once per turn, what arrived while the request was made, unless the turn already has its steering. */
  takeLate(): readonly AgentMessage[] {
    const messages = this.#canTakeLate ? this.take() : [];
    this.#canTakeLate = false;
    return messages;
  }

  /** Tells `listener` of every arrival; returns how to stop. */
  onArrival(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops watching. */
  dispose(): void {
    this.#unsubscribe?.();
  }

  #notifyArrival(): void {
    this.#arrived = true;
    for (const listener of [...this.#listeners]) listener();
  }
}
