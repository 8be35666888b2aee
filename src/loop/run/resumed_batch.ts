/**
 * A batch of tool calls whose approvals were pending.
 *
 * @module
 */

import type { ApprovalDecision, PendingBatch } from "../../core/approval/approval.ts";

/** A batch that was pending, with all decisions. */
export interface ResumedBatch extends PendingBatch {
  /** The decisions on the pending calls, by the id of the call. */
  readonly decisions: ReadonlyMap<string, ApprovalDecision>;
}
