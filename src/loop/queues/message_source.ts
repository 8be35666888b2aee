/**
 * The queues that a run takes messages from.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";

/** A queue of messages for a run: steering or follow-ups. */
export interface MessageSource {
  /** Returns the messages that {@linkcode MessageSource.take} would take now. */
  peek(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[];
  /**
   * Removes and returns the next messages; empty if none are queued. With `checked`, only those that the `preTurn` policies
   * have read, by identity. A queue of the application may ignore it: its messages wait until all of them were read, and
   * the run ends without them if others arrive during each of 100 checks.
   */
  take(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[];
  /** Queues a message that the run could not deliver, for the next one. Default: the message is dropped. */
  requeue?(message: AgentMessage): void;
  /** Calls `listener` whenever a message is queued; returns a function that unsubscribes. */
  onArrival?(listener: () => void): () => void;
  /** Reads messages from elsewhere; called before each turn and after each tool call. Must not reject. */
  poll?(): Promise<void>;
}
