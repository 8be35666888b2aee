/**
 * The entries about tool calls.
 *
 * @module
 */

import type { ToolExecutionStartEvent, TurnEndEvent } from "../../core/events/event.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { SessionEntryBody } from "../../core/sessions/session_entry.ts";
import type { SideEffect } from "../../core/tools/tool.ts";

/** The reply that a call is part of, and its run. */
export interface CallOrigin {
  /** Id of the entry of the reply; `null` if it is not known. */
  readonly messageId: string | null;
  /** Id of the run. */
  readonly runId: string;
}

/** Creates the entry of a call that starts. */
export function createStartedEntry(
  { id, name, arguments: args, idempotencyKey }: ToolExecutionStartEvent,
  { messageId, runId, sideEffect }: CallOrigin & { readonly sideEffect: SideEffect },
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

/** Returns the name of the tool of a call, as in the last reply with it; empty if there is none. */
export function findCallName(messages: readonly AgentMessage[], callId: string): string {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant") continue;
    const call = extractToolCalls(message.content).find(({ id }) => id === callId);
    if (call) return call.name;
  }
  return "";
}
