/**
 * The changes of an agent's state by events.
 *
 * @module
 */

import type { PendingBatch } from "../core/approval/approval.ts";
import type { AgentEvent, RunOutcome } from "../core/events/event.ts";
import { cloneJson } from "../core/json/json.ts";
import type { ContentBlock } from "../core/messages/content.ts";
import { hasContent } from "../core/messages/history.ts";
import type { AgentMessage, AssistantMessage } from "../core/messages/message.ts";
import { zeroCost, zeroUsage } from "../core/models/usage.ts";
import type { AssistantMessageDelta } from "../core/streams/stream.ts";
import { TextBuffer } from "../core/text/text_buffer.ts";
import type { LiveState, MessageDraft } from "./live_state.ts";

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

type BlockDraft =
  | { readonly type: "text" | "thinking"; readonly text: TextBuffer }
  | {
    readonly type: "tool_call";
    readonly id: string;
    readonly name: string;
    readonly text: TextBuffer;
  };

/** The streaming reply. Deltas are appended as text; the message is created only when it is read. */
export class ReplyDraft implements MessageDraft {
  readonly #start: AssistantMessage;
  #blocks: (BlockDraft | undefined)[] = [];

  /** Creates a draft from the message of `message_start`, which listeners may change later. */
  constructor(start: AssistantMessage) {
    this.#start = { ...start };
  }

  /** Appends a delta. */
  apply(delta: AssistantMessageDelta): void {
    const block = this.#blocks[delta.contentIndex] ?? this.#addBlock(delta);
    if (delta.type !== "tool_call_start") block.text.append(delta.delta);
  }

  #addBlock(delta: AssistantMessageDelta): BlockDraft {
    const text = new TextBuffer();
    const block: BlockDraft = delta.type === "tool_call_start"
      ? { type: "tool_call", id: delta.id, name: delta.name, text }
      : { type: delta.type === "thinking_delta" ? "thinking" : "text", text };
    this.#blocks[delta.contentIndex] = block;
    return block;
  }

  /** Discards the content so far. */
  clear(): void {
    this.#blocks = [];
  }

  /** Returns the message so far. */
  snapshot(): AssistantMessage {
    const content = Array.from(this.#blocks, createBlock);
    return { ...this.#start, content, usage: zeroUsage(), cost: zeroCost() };
  }
}

function createBlock(draft: BlockDraft | undefined): ContentBlock {
  // A block without deltas (an extension), which keeps the positions of those after it for the next deltas.
  if (!draft) return { type: "text", text: "" };
  switch (draft.type) {
    case "text":
      return { type: "text", text: draft.text.toString() };
    case "thinking":
      return { type: "thinking", thinking: draft.text.toString() };
    case "tool_call": {
      const { type, id, name, text } = draft;
      return { type, id, name, arguments: {}, partialJson: text.toString() };
    }
  }
}
