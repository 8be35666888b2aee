/**
 * The input of one turn.
 *
 * @module
 */

import type { PendingBatch } from "../../core/approval/approval.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { MessageSource } from "../queues/message_source.ts";
import type { ResumedBatch } from "./resumed_batch.ts";

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
