/**
 * The entries about tool calls.
 *
 * @module
 */

import type { ToolExecutionStartEvent, TurnEndEvent } from "../../core/event.ts";
import type { SessionEntryBody } from "../../core/session_entry.ts";
import type { SideEffect } from "../../core/tool.ts";

/** The reply that a call is part of, and its run. */
export interface CallPlace {
  /** Id of the entry of the reply; `null` if it is not known. */
  readonly messageId: string | null;
  /** Id of the run. */
  readonly runId: string;
}

/** Creates the entry of a call that starts. */
export function createStartedEntry(
  { id, name, arguments: args, idempotencyKey }: ToolExecutionStartEvent,
  { messageId, runId, sideEffect }: CallPlace & { readonly sideEffect: SideEffect },
): SessionEntryBody {
  return {
    type: "tool_started",
    messageId,
    toolCallId: id,
    name,
    arguments: args,
    sideEffect,
    idempotencyKey: idempotencyKey ?? `${runId}:${id}`,
  };
}

/** Creates the entry of the calls that wait for approvals at the end of a turn; `undefined` if there are none. */
export function createPendingEntry(
  { pendingApprovals = [], decidedCalls }: TurnEndEvent,
  messageId: string | null,
): SessionEntryBody | undefined {
  if (pendingApprovals.length === 0) return undefined;
  return {
    type: "approvals_pending",
    messageId,
    pendingApprovals,
    ...(decidedCalls && { decidedCalls }),
  };
}
