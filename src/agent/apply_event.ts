/**
 * The changes of an agent's state by events.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval/approval.ts";
import type { AgentEvent, RunOutcome } from "../core/events/event.ts";
import { cloneJson } from "../core/json/json.ts";
import { hasContent } from "../core/messages/history.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import type { LiveState } from "./live_state.ts";
import { ReplyDraft } from "./reply_draft.ts";

/**
 * Applies an event of a run; `history` is that of the run, whose messages are not shared with events. During a run only
 * events and the agent's setters change the state.
 */
export function applyEvent(
  state: LiveState,
  event: AgentEvent,
  history: readonly AgentMessage[],
): void {
  switch (event.type) {
    case "message_update":
      return state.draft?.apply(event.delta);
    case "message_start":
      state.draft = event.message.role === "assistant" ? new ReplyDraft(event.message) : undefined;
      return;
    case "message_end":
      state.draft = undefined;
      if (event.message.role !== "assistant" || hasContent(event.message.content)) {
        const appended = history[state.messages.length];
        if (appended) state.messages.push(appended);
      }
      return;
    case "tool_execution_start":
      state.pendingToolCalls.add(event.id);
      state.callEvents.push(event);
      return;
    case "tool_execution_end":
      state.pendingToolCalls.delete(event.id);
      state.callEvents.push(event);
      return;
    case "agent_start":
      state.runId = event.runId;
      state.error = undefined;
      state.pending = undefined;
      return;
    case "agent_end":
      state.error = event.error;
      state.pending = pickPending(event);
      return;
    case "turn_start":
    case "turn_end":
      state.callEvents = [];
      return;
    case "retry":
    case "model_fallback":
      if (event.discard) state.draft?.clear();
      return;
    case "tool_execution_update":
    case "tool_approval_requested":
    case "tool_approval_resolved":
    case "context_compacted":
    case "warning":
    case "custom":
    case "model_call_start":
    case "model_call_end":
    case "sub_agent":
    case "queue_changed":
    case "model_changed":
      return;
  }
}

function pickPending(
  { pendingApprovals = [], decidedCalls, interruptedCalls }: RunOutcome,
): PendingBatch | undefined {
  if (pendingApprovals.length === 0 && !interruptedCalls) return undefined;
  return cloneJson({ pendingApprovals, decidedCalls, interruptedCalls });
}
