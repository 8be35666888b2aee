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
  /** Number of messages that were queued so far. */
  arrivals = 0;
  /** Number of those that were queued before a turn took messages, or before their check. */
  seen = 0;
  /** Whether messages that are queued while the request is prepared may still be taken for the turn. */
  canTakeLate = false;

  /** Watches a queue; until then there are no messages. */
  watch(source: MessageSource): void {
    this.#source = source;
    this.#unsubscribe = source.onArrival?.(() => {
      this.arrivals++;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** Whether a message was queued since a turn took messages, and is still queued. */
  get arrived(): boolean {
    return this.arrivals > this.seen && this.peek().length > 0;
  }

  /** Reads a source that must be asked for messages; returns `undefined` if it need not. */
  poll(): Promise<void> | undefined {
    return this.#source?.poll?.();
  }

  /** Returns the messages that the next turn would take. */
  peek(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[] {
    return this.#source?.peek(checked) ?? [];
  }

  /** Takes the messages for a turn; with `checked`, others wait for the check of the next turn. */
  take(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[] {
    return this.#source?.take(checked) ?? [];
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
}
