/**
 * The ends of runs after which queued messages start the next one.
 *
 * @module
 */

import type { AgentResult } from "../../agent/agent_result.ts";

/** Whether a run has ended by itself: neither by an abort, an error or a policy, nor for an approval. */
export function hasCompleted(
  { stopReason, stoppedBy, pendingApprovals = [] }: AgentResult,
): boolean {
  return stopReason === "stop" && !stoppedBy && pendingApprovals.length === 0;
}
