/**
 * The result of a run, as `agent_end` reports it.
 *
 * @module
 */

import type { PendingBatch } from "../../core/approval/approval.ts";
import type { RunOutcome } from "../../core/events/event.ts";
import { cloneJson } from "../../core/json/json.ts";
import { copyMessage } from "../../core/messages/copy_message.ts";
import { pickLateSpending, type RunProgress } from "./run_progress.ts";
import type { RunServices } from "./run_services.ts";

/** Creates the result of a run. */
export function createOutcome(run: RunServices, progress: RunProgress): RunOutcome {
  const { usage, cost, error, stoppedBy, pending } = progress;
  const { aborted, reason } = run.cancellation;
  const stopReason = error ? "error" : progress.stopReason;
  // An abort after the last turn was complete had no effect.
  const isIncomplete = stopReason === "aborted" || stopReason === "error";
  return {
    messages: run.history.newMessages,
    stopReason,
    usage,
    cost,
    ...pickLateSpending(progress),
    ...(error && { error }),
    ...(stoppedBy && { stoppedBy }),
    ...(aborted && isIncomplete && { abortReason: reason }),
    ...(pending && pickPending(pending)),
  };
}

/** Returns a copy for the last event, so that a listener changes neither the history nor the result. */
export function copyOutcome(outcome: RunOutcome): RunOutcome {
  const { messages, error: _error, abortReason: _abortReason, ...data } = outcome;
  return {
    ...outcome,
    ...cloneJson(data),
    messages: messages.map((message) => copyMessage(message)),
  };
}

function pickPending(
  { pendingApprovals, decidedCalls, interruptedCalls }: PendingBatch,
): Partial<PendingBatch> {
  return {
    ...(pendingApprovals.length > 0 && { pendingApprovals }),
    ...(decidedCalls && { decidedCalls }),
    ...(interruptedCalls && { interruptedCalls }),
  };
}
