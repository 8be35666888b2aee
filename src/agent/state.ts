/**
 * The state of an agent, and its changes by events.
 *
 * @module
 */

import type { ContentBlock } from "../core/content.ts";
import type { AgentError } from "../core/errors.ts";
import type { AgentEvent } from "../core/event.ts";
import { hasContent } from "../core/history.ts";
import type { AgentMessage, AssistantMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { AssistantMessageDelta } from "../core/stream.ts";
import { TextBuffer } from "../core/text_buffer.ts";
import type { AgentTool } from "../core/tool.ts";

/** The state of an agent as of the last event. */
export interface AgentState {
  /** The system prompt; empty for none. */
  readonly systemPrompt: string;
  /** The model of the next turn. */
  readonly model: ModelSpec;
  /** The tools of the next turn. */
  readonly tools: readonly AgentTool[];
  /** The history; grows during a run. */
  readonly messages: readonly AgentMessage[];
  /** Whether a run is active. */
  readonly isRunning: boolean;
  /** The reply so far while it streams; recomputed on each read. */
  readonly streamingMessage?: AssistantMessage | undefined;
  /** Ids of the running tool calls. */
  readonly pendingToolCalls: ReadonlySet<string>;
  /** The error of the last run, if it failed. */
  readonly error?: AgentError | undefined;
}

/** Options for `new LiveState()`. */
export type InitialState = Pick<AgentState, "systemPrompt" | "model" | "tools" | "messages">;

/** The mutable state; changed by {@linkcode applyEvent} and by the agent's setters. */
export class LiveState implements AgentState {
  /** The system prompt. */
  systemPrompt: string;
  /** The model. */
  model: ModelSpec;
  /** The tools. */
  tools: readonly AgentTool[];
  /** The history; replaced by the setters, appended to by events. */
  messages: AgentMessage[];
  /** Whether a run is active. */
  isRunning = false;
  /** Ids of the running tool calls. */
  readonly pendingToolCalls: Set<string> = new Set();
  /** The error of the last run. */
  error: AgentError | undefined;
  /** The streaming reply. */
  draft: ReplyDraft | undefined;

  /** Creates the state of an idle agent. */
  constructor(initial: InitialState) {
    this.systemPrompt = initial.systemPrompt;
    this.model = initial.model;
    this.tools = initial.tools;
    this.messages = [...initial.messages];
  }

  /** The reply so far while it streams; recomputed on each read. */
  get streamingMessage(): AssistantMessage | undefined {
    return this.draft?.snapshot();
  }
}

/** Applies an event of a run. During a run only events and the agent's setters change the state. */
export function applyEvent(state: LiveState, event: AgentEvent): void {
  switch (event.type) {
    case "message_update":
      return state.draft?.apply(event.delta);
    case "message_start":
      state.draft = event.message.role === "assistant" ? new ReplyDraft(event.message) : undefined;
      return;
    case "message_end":
      state.draft = undefined;
      if (event.message.role !== "assistant" || hasContent(event.message.content)) {
        state.messages.push(event.message);
      }
      return;
    case "retry":
      if (event.discard) state.draft?.clear();
      return;
    case "model_fallback":
      return state.draft?.clear();
    case "tool_execution_start":
      state.pendingToolCalls.add(event.id);
      return;
    case "tool_execution_end":
      state.pendingToolCalls.delete(event.id);
      return;
    case "agent_start":
      state.error = undefined;
      return;
    case "agent_end":
      state.error = event.error;
      return;
    case "turn_start":
    case "turn_end":
    case "tool_execution_update":
    case "tool_approval_requested":
    case "tool_approval_resolved":
    case "context_compacted":
    case "warning":
    case "custom":
    case "queue_changed":
    case "model_changed":
      return;
  }
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
export class ReplyDraft {
  readonly #start: AssistantMessage;
  #blocks: BlockDraft[] = [];

  /** Creates a draft from the message of `message_start`. */
  constructor(start: AssistantMessage) {
    this.#start = start;
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
    // A block without deltas (an extension) leaves a hole, which filter skips.
    return { ...this.#start, content: this.#blocks.filter(() => true).map(createBlock) };
  }
}

function createBlock(draft: BlockDraft): ContentBlock {
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
