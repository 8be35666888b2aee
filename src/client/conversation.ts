/**
 * A conversation as a page shows it, from the events of its runs.
 *
 * @module
 */

import type { PendingApproval } from "../core/approval/approval.ts";
import type { AgentEvent, QueuedMessages } from "../core/events/event.ts";
import type { StoppedBy } from "../core/events/stopped_by.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { ContentBlock, ToolCallBlock } from "../core/messages/content.ts";
import { hasContent } from "../core/messages/history.ts";
import type { AgentMessage, AssistantMessage } from "../core/messages/message.ts";
import type { ToolUpdate } from "../core/messages/tool_result.ts";
import type { AssistantMessageDelta } from "../core/streams/stream.ts";

/** A tool call that runs. */
export interface RunningCall {
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments, after policies and approval. */
  readonly arguments: JsonObject;
  /** The latest partial result. Default: none yet. */
  readonly update?: ToolUpdate;
}

/** A conversation as a page shows it. It is immutable: {@linkcode updateConversation} returns a new one. */
export interface Conversation {
  /** The complete messages, in order: prompts, replies and tool results. */
  readonly messages: readonly AgentMessage[];
  /**
   * The reply so far, while it streams, or where the connection has ended. The arguments of its tool calls are empty;
   * `partialJson` is their text so far.
   */
  readonly streamingMessage?: AssistantMessage | undefined;
  /** The tool calls that run, in the order of their starts. */
  readonly runningCalls: readonly RunningCall[];
  /** The tool calls that wait for a decision, during a run or after it. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** The messages in the queues. */
  readonly queued: QueuedMessages;
  /** Whether a run is active. */
  readonly isRunning: boolean;
  /** The error of the last run, or of its connection. */
  readonly error?: Error | undefined;
  /** The policy that stopped the last run, if one did. */
  readonly stoppedBy?: StoppedBy | undefined;
}

/**
 * Creates a conversation without a run.
 *
 * @param messages The history, as a server has it. Default: none.
 */
export function createConversation(messages: readonly AgentMessage[] = []): Conversation {
  return {
    messages: [...messages],
    runningCalls: [],
    pendingApprovals: [],
    queued: { steering: [], followUp: [] },
    isRunning: false,
  };
}

/**
 * Applies an event of a run, or the error that its stream has failed with, and returns the conversation after it: the same
 * object if nothing that it has is changed. It is a reducer, as `useReducer()` of React takes it.
 *
 * The events of a sub-agent change nothing. To show them, apply `event.event` of a `sub_agent` event to another
 * conversation, one for each `path`.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { createConversation, updateConversation } from "@swink/agent/client";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * let conversation = createConversation();
 * for await (const event of agent.promptStream("Greet me")) {
 *   conversation = updateConversation(conversation, event);
 * }
 * console.log(conversation.messages.length, conversation.isRunning); // 2 false
 * ```
 */
export function updateConversation(
  conversation: Conversation,
  change: AgentEvent | Error,
): Conversation {
  if (change instanceof Error) return failConversation(conversation, change);
  const { messages, streamingMessage, runningCalls, pendingApprovals } = conversation;
  switch (change.type) {
    case "agent_start":
      return { ...createConversation(messages), queued: conversation.queued, isRunning: true };
    case "message_start":
      return change.message.role === "assistant"
        ? { ...conversation, streamingMessage: change.message }
        : conversation;
    case "message_update":
      return streamingMessage
        ? { ...conversation, streamingMessage: appendDelta(streamingMessage, change.delta) }
        : conversation;
    case "retry":
    case "model_fallback":
      return streamingMessage && change.discard
        ? { ...conversation, streamingMessage: { ...streamingMessage, content: [] } }
        : conversation;
    case "message_end":
      return {
        ...conversation,
        messages: appendMessage(messages, change.message),
        streamingMessage: undefined,
      };
    case "tool_approval_requested": {
      const { id: toolCallId, name, arguments: args } = change;
      const requested = { toolCallId, name, arguments: args };
      return { ...conversation, pendingApprovals: [...pendingApprovals, requested] };
    }
    case "tool_approval_resolved": {
      const remaining = pendingApprovals.filter(({ toolCallId }) => toolCallId !== change.id);
      return { ...conversation, pendingApprovals: remaining };
    }
    case "tool_execution_start": {
      const { id, name, arguments: args } = change;
      return { ...conversation, runningCalls: [...runningCalls, { id, name, arguments: args }] };
    }
    case "tool_execution_update": {
      const { id, update } = change;
      const calls = runningCalls.map((call) => call.id === id ? { ...call, update } : call);
      return { ...conversation, runningCalls: calls };
    }
    case "tool_execution_end":
      return { ...conversation, runningCalls: runningCalls.filter(({ id }) => id !== change.id) };
    case "queue_changed":
      return { ...conversation, queued: change.queued };
    case "agent_end": {
      const { pendingApprovals = [], error, stoppedBy } = change;
      return { ...conversation, isRunning: false, pendingApprovals, error, stoppedBy };
    }
    case "turn_start":
    case "turn_end":
    case "model_call_start":
    case "model_call_end":
    case "context_compacted":
    case "model_changed":
    case "sub_agent":
    case "warning":
    case "custom":
      return conversation;
  }
}

/** Ends the run, whose remaining events do not arrive. */
function failConversation(conversation: Conversation, error: Error): Conversation {
  return { ...conversation, isRunning: false, runningCalls: [], pendingApprovals: [], error };
}

/** Appends a message; one that a page has appended itself is replaced. An empty reply is not part of the history. */
function appendMessage(
  messages: readonly AgentMessage[],
  message: AgentMessage,
): readonly AgentMessage[] {
  if (message.role === "assistant" && !hasContent(message.content)) return messages;
  const index = messages.findLastIndex(({ id }) => id !== undefined && id === message.id);
  return index < 0 ? [...messages, message] : messages.with(index, message);
}

function appendDelta(message: AssistantMessage, delta: AssistantMessageDelta): AssistantMessage {
  const content = [...message.content];
  // The blocks of a provider have no deltas and arrive with the complete message.
  while (content.length < delta.contentIndex) content.push({ type: "text", text: "" });
  content[delta.contentIndex] = extendBlock(content[delta.contentIndex], delta);
  return { ...message, content };
}

function extendBlock(block: ContentBlock | undefined, delta: AssistantMessageDelta): ContentBlock {
  switch (delta.type) {
    case "text_delta":
      return { type: "text", text: (block?.type === "text" ? block.text : "") + delta.delta };
    case "thinking_delta": {
      const thinking = block?.type === "thinking" ? block.thinking : "";
      return { type: "thinking", thinking: thinking + delta.delta };
    }
    case "tool_call_start":
      return createCallBlock(delta.id, delta.name);
    case "tool_call_delta": {
      const call = block?.type === "tool_call" ? block : createCallBlock("", "");
      return { ...call, partialJson: (call.partialJson ?? "") + delta.delta };
    }
  }
}

function createCallBlock(id: string, name: string): ToolCallBlock {
  return { type: "tool_call", id, name, arguments: {}, partialJson: "" };
}
