/**
 * The steering messages of one run.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import type { Arrivals } from "./arrivals.ts";
import { GuardedSource } from "./guarded_source.ts";

/** The check of the messages that a turn takes. */
export interface SteeringCheck {
  /** The queued messages that a policy has read, which alone the turn may take. Default: none has read them. */
  readonly checked?: ReadonlySet<AgentMessage>;
  /** Number of messages that had arrived before they were read. */
  readonly arrivals?: number;
}

/** Takes the steering messages for the turns of a run; without a queue there are none. */
export class Steering {
  readonly #arrivals: Arrivals;
  /** Number of messages that had arrived before a turn took some, or before their check. */
  #seen = 0;
  #canTakeLate = false;

  constructor(arrivals: Arrivals) {
    this.#arrivals = arrivals;
  }

  /** Number of messages that have arrived so far. */
  get arrivals(): number {
    return this.#arrivals.count;
  }

  /** Whether a message has arrived since a turn took messages, and is still queued. */
  get hasArrived(): boolean {
    return this.arrivals > this.#seen && this.peek().length > 0;
  }

  /** Reads a source that must be asked for messages; returns `undefined` if it need not. */
  poll(): Promise<void> | undefined {
    return this.#arrivals.source?.poll?.();
  }

  /** Returns the messages that the next turn would take; with `checked`, only those that it has. */
  peek(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[] {
    return this.#arrivals.source?.peek(checked) ?? [];
  }

  /** Returns the messages that the policies must check before a turn. */
  peekUnchecked(): readonly AgentMessage[] {
    const { source } = this.#arrivals;
    return source instanceof GuardedSource ? source.peekUntaken() : this.peek();
  }

  /** Takes the messages for a turn; others than the checked ones wait for the check of the next turn. */
  take({ checked, arrivals = this.arrivals }: SteeringCheck = {}): readonly AgentMessage[] {
    // First, since a listener may steer when it learns of the change of the queue.
    this.#seen = arrivals;
    const messages = this.#arrivals.source?.take(checked) ?? [];
    this.#canTakeLate = !checked && messages.length === 0;
    return messages;
  }

  /**
   * Takes messages that were queued while the request was prepared; only once per turn, and only if it took none before
   * and no policy checks them.
   */
  takeLate(): readonly AgentMessage[] {
    const messages = this.#canTakeLate ? this.take() : [];
    this.#canTakeLate = false;
    return messages;
  }

  /** Calls `listener` whenever a message arrives; returns a function that unsubscribes. */
  onArrival(listener: () => void): () => void {
    return this.#arrivals.subscribe(listener);
  }
}
