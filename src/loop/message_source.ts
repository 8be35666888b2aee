/**
 * The queues that a run takes messages from.
 *
 * @module
 */

import type { AgentMessage } from "../core/message.ts";

/** A queue of messages for a run: steering or follow-ups. */
export interface MessageSource {
  /** Returns the messages that {@linkcode MessageSource.take} would take now. */
  peek(): readonly AgentMessage[];
  /** Removes and returns the next messages; empty when none are queued. */
  take(): readonly AgentMessage[];
  /** Calls `listener` whenever a message is queued; returns a function that unsubscribes. */
  onArrival?(listener: () => void): () => void;
}

/** The messages that a turn starts with. */
export interface TurnInput {
  /** Messages that are appended in any case. */
  readonly messages: readonly AgentMessage[];
  /** A queue to take messages from; they stay queued when the run is aborted before. */
  readonly queue?: MessageSource;
}
