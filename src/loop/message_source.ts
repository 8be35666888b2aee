/**
 * The queues that a run takes messages from.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval.ts";
import type { AgentMessage } from "../core/message.ts";
import type { ResumedBatch } from "./resumed_batch.ts";

/** A queue of messages for a run: steering or follow-ups. */
export interface MessageSource {
  /** Returns the messages that {@linkcode MessageSource.take} would take now. */
  peek(): readonly AgentMessage[];
  /** Removes and returns the next messages; empty if none are queued. */
  take(): readonly AgentMessage[];
  /** Calls `listener` whenever a message is queued; returns a function that unsubscribes. */
  onArrival?(listener: () => void): () => void;
  /** Reads messages from elsewhere; called before each turn and after each tool call. Must not reject. */
  poll?(): Promise<void>;
}

/** The messages that a turn starts with. */
export interface TurnInput {
  /** Messages to append. */
  readonly messages: readonly AgentMessage[];
  /** A queue to take further messages from; they stay queued if the run is aborted first. */
  readonly queue?: MessageSource;
  /** Pending tool calls of the last reply, which the conversation continues without. */
  readonly declined?: PendingBatch | undefined;
  /** Tool calls of the last reply to run instead of calling the model. */
  readonly batch?: ResumedBatch;
}
