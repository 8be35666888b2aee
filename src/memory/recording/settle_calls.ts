/**
 * Settles the open tool calls of a session: with results, or as calls that the agent continues.
 *
 * @module
 */

import type { InterruptedCall, PendingBatch } from "../../core/approval/approval.ts";
import type { ToolResultMessage } from "../../core/messages/message.ts";
import { createResultMessage } from "../../core/messages/result_message.ts";
import type { LoggedHistory, OpenReply } from "./logged_history.ts";
import {
  createInterruptedCall,
  getResultWithoutRunning,
  type RerunOptions,
} from "./pending_calls.ts";

/** The settlement of the open calls of a history. */
export interface SettledCalls {
  /** The results to append; none if the agent continues the calls. */
  readonly results: readonly ToolResultMessage[];
  /** The calls that the agent continues, if any. */
  readonly batch: PendingBatch | undefined;
}

/** Options for {@linkcode settleCalls}. */
export interface SettleOptions extends RerunOptions {
  /** Timestamp of the results, in milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Settles the open calls of a history. No call runs here. */
export function settleCalls(
  { open }: Pick<LoggedHistory, "open">,
  { timestamp, ...options }: SettleOptions,
): SettledCalls {
  if (!open) return { results: [], batch: undefined };
  const batch = open.isAnswered ? undefined : createBatch(open, options);
  const results = batch
    ? []
    : open.calls.map((pending) =>
      createResultMessage(pending.call, createInterruptedCall(pending, options).result, timestamp)
    );
  return { results, batch };
}

/** Returns the calls that wait for approvals or may run again; `undefined` if there are none. */
function createBatch(
  { calls, approvals }: OpenReply,
  options: RerunOptions,
): PendingBatch | undefined {
  const pendingApprovals = approvals?.pendingApprovals ?? [];
  const decidedCalls = approvals?.decidedCalls ?? [];
  const interruptedCalls = calls.map((pending): InterruptedCall => {
    const decided = decidedCalls.find(({ toolCallId }) => toolCallId === pending.call.id);
    if (pending.type !== "not_started" || decided?.decision.type !== "approved") {
      return createInterruptedCall(pending, options);
    }
    // Decided again: a log is not proof of an approval.
    const { id: toolCallId } = pending.call;
    return { toolCallId, result: getResultWithoutRunning(pending), rerun: {} };
  });
  const canContinue = pendingApprovals.length > 0 || interruptedCalls.some(({ rerun }) => rerun);
  if (!canContinue) return undefined;
  const denied = decidedCalls.filter(({ decision }) => decision.type === "denied");
  const waiting = new Set([...pendingApprovals, ...denied].map(({ toolCallId }) => toolCallId));
  return {
    pendingApprovals,
    ...(denied.length > 0 && { decidedCalls: denied }),
    interruptedCalls: interruptedCalls.filter(({ toolCallId, rerun }) =>
      rerun?.idempotencyKey !== undefined || !waiting.has(toolCallId)
    ),
  };
}
