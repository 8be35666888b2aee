/**
 * The activity of a session, as its clients see it.
 *
 * @module
 */

import type { PendingApproval } from "../approval/approval.ts";
import type { QueuedMessages } from "../events/event.ts";
import type { AssistantMessage } from "../messages/message.ts";

/**
 * State of a session. `running`: a run is active in this process. `awaiting_approval`: tool calls wait for decisions.
 * `interrupted`: the last run has no end, since its process has ended, or is another one that still works. `idle`: none
 * of these.
 */
export type SessionStatus = "idle" | "running" | "awaiting_approval" | "interrupted";

/** The activity of a session. */
export interface SessionActivity {
  /** Its state. */
  readonly status: SessionStatus;
  /** Id of the active run, if there is one. */
  readonly runId?: string;
  /** The tool calls that wait for decisions. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** The queued messages. */
  readonly queued: QueuedMessages;
  /** The reply so far, while it streams. */
  readonly streamingMessage?: AssistantMessage;
}
