/**
 * A conversation as a page shows it, from the events of its runs, or of its session.
 *
 * @module
 */

import type { PendingApproval } from "../core/approval/approval.ts";
import type { QueuedMessages } from "../core/events/event.ts";
import type { StoppedBy } from "../core/events/stopped_by.ts";
import type { JsonObject } from "../core/json/json.ts";
import type { ContentBlock, ToolCallBlock } from "../core/messages/content.ts";
import { hasContent } from "../core/messages/history.ts";
import type { AgentMessage, AssistantMessage } from "../core/messages/message.ts";
import type { ToolUpdate } from "../core/messages/tool_result.ts";
import type { SessionActivity } from "../core/sessions/session_activity.ts";
import type { SessionEntry } from "../core/sessions/session_entry.ts";
import type { AssistantMessageDelta } from "../core/streams/stream.ts";
import { createFirstNode, type EntryNode, followEntry, readPath } from "./entry_path.ts";
import { putMessage } from "./message_list.ts";
import type { SessionEvent } from "./session_event.ts";

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

/** Name of the last entry of the session: a symbol, which JSON omits. */
const LAST_ENTRY = Symbol("last entry");

/**
 * A conversation with the place of its last entry. All entries before are linked to it, too deep for libraries that visit
 * all properties of a state; they do not visit functions.
 */
interface SessionConversation extends Conversation {
  readonly [LAST_ENTRY]?: () => EntryNode;
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
 * Applies an event of a run or a session, or the error that the stream of a run has failed with, and returns the
 * conversation after it: the same object if nothing that it has is changed. It is a reducer, as `useReducer()` of React takes
 * it.
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
  change: SessionEvent | Error,
): Conversation {
  if (change instanceof Error) return failConversation(conversation, change);
  const { streamingMessage, runningCalls, pendingApprovals } = conversation;
  switch (change.type) {
    case "agent_start":
      return { ...conversation, ...NO_ACTIVITY, isRunning: true };
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
      return endMessage(conversation, change.message);
    case "tool_approval_requested": {
      const { id: toolCallId, name, arguments: args } = change;
      const others = removeApproval(pendingApprovals, toolCallId);
      const approval = { toolCallId, name, arguments: args };
      return { ...conversation, pendingApprovals: [...others, approval] };
    }
    case "tool_approval_resolved":
      return { ...conversation, pendingApprovals: removeApproval(pendingApprovals, change.id) };
    case "tool_execution_start":
      return startCall(conversation, change.id, change);
    case "tool_execution_update": {
      const { id, update } = change;
      const calls = runningCalls.map((call) => call.id === id ? { ...call, update } : call);
      return { ...conversation, runningCalls: calls };
    }
    case "tool_execution_end":
      return endCall(conversation, change.id);
    case "queue_changed":
      return { ...conversation, queued: change.queued };
    case "agent_end": {
      const { pendingApprovals = [], error, stoppedBy } = change;
      return { ...conversation, isRunning: false, pendingApprovals, error, stoppedBy };
    }
    case "entry":
      return applyEntry(conversation, change.entry);
    case "state":
      return applyState(conversation, change.state);
    case "reset":
      return createConversation();
    default:
      change satisfies { readonly type: IgnoredType };
      return conversation; // also for the events of a newer server
  }
}

/** Types of the events that change nothing. */
type IgnoredType =
  | "disconnected"
  | "turn_start"
  | "turn_end"
  | "model_call_start"
  | "model_call_end"
  | "context_compacted"
  | "model_changed"
  | "sub_agent"
  | "warning"
  | "custom";

/** The conversation when a run starts, apart from its messages and queues. */
const NO_ACTIVITY = {
  streamingMessage: undefined,
  runningCalls: [],
  pendingApprovals: [],
  error: undefined,
  stoppedBy: undefined,
} satisfies Partial<Conversation>;

/** Applies an entry of a session: a message, which an event of the agent may have shown, or the end of a run. */
function applyEntry(conversation: SessionConversation, entry: SessionEntry): Conversation {
  const { [LAST_ENTRY]: getLast, messages: shown, runningCalls, pendingApprovals } = conversation;
  const { node, isBranch } = followEntry(getLast?.() ?? createFirstNode(entry, shown), entry);
  const messages = isBranch ? readPath(node.parent) : shown;
  const next: SessionConversation = {
    ...conversation,
    messages,
    runningCalls: isBranch ? [] : runningCalls, // no run is active then
    [LAST_ENTRY]: () => node,
  };
  switch (entry.type) {
    case "message": {
      const { message } = entry;
      const ended = endMessage(next, message);
      const position = node.count - 1;
      if (ended.messages[position]?.id === message.id) return ended;
      // A page that joins a durable run gets the events of later messages first.
      const others = ended.messages.slice(position);
      return { ...ended, messages: others.reduce(putMessage, readPath(node)) };
    }
    // A page that joins a run does not get the events of its calls.
    case "tool_started":
      return startCall(next, entry.toolCallId, entry);
    case "tool_finished":
      return endCall(next, entry.toolCallId);
    case "run_ended":
      return { ...next, ...NO_ACTIVITY, isRunning: false, pendingApprovals, ...node.ended };
    default:
      return next;
  }
}

/** Applies the state of a session, which has all that a client has missed. */
function applyState(
  conversation: SessionConversation,
  { status, pendingApprovals, queued, streamingMessage }: SessionActivity,
): Conversation {
  const isRunning = status === "running";
  const { messages, runningCalls, [LAST_ENTRY]: getLast } = conversation;
  const last = getLast?.();
  // While a run is active, or if it was interrupted, the last end is that of an earlier run.
  const hasEnded = !isRunning && status !== "interrupted";
  const { error, stoppedBy } = hasEnded ? last?.ended ?? conversation : NO_ACTIVITY;
  // Messages of a run that were not persisted are no part of the session. A run that waits may persist them later.
  const mayPersist = isRunning || status === "awaiting_approval";
  const path = mayPersist || !last ? messages : readPath(last);
  return {
    ...conversation,
    messages: path.length < messages.length ? path : messages,
    isRunning,
    runningCalls: isRunning ? runningCalls : [],
    pendingApprovals,
    queued,
    streamingMessage,
    error,
    stoppedBy,
  };
}

/** Ends the run, whose remaining events do not arrive. */
function failConversation(conversation: Conversation, error: Error): Conversation {
  return { ...conversation, isRunning: false, runningCalls: [], pendingApprovals: [], error };
}

/**
 * Appends a message, and ends what has shown it so far. One that the page has already is replaced. An empty reply is not part
 * of the history.
 */
function endMessage(conversation: Conversation, message: AgentMessage): Conversation {
  const { messages } = conversation;
  switch (message.role) {
    case "assistant": {
      const next = { ...conversation, streamingMessage: undefined };
      if (!hasContent(message.content)) return next;
      return { ...next, messages: putMessage(messages, message) };
    }
    case "tool_result": {
      const next = endCall(conversation, message.toolCallId); // its end may have been missed
      return { ...next, messages: putMessage(messages, message) };
    }
    default:
      return { ...conversation, messages: putMessage(messages, message) };
  }
}

/** Adds a running call. A process that continues a run may start one again. */
function startCall(
  conversation: Conversation,
  id: string,
  { name, arguments: args }: Omit<RunningCall, "id">,
): Conversation {
  const { runningCalls } = endCall(conversation, id);
  return { ...conversation, runningCalls: [...runningCalls, { id, name, arguments: args }] };
}

function endCall(conversation: Conversation, callId: string): Conversation {
  const runningCalls = conversation.runningCalls.filter(({ id }) => id !== callId);
  return { ...conversation, runningCalls };
}

function removeApproval(
  approvals: readonly PendingApproval[],
  callId: string,
): readonly PendingApproval[] {
  return approvals.filter(({ toolCallId }) => toolCallId !== callId);
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
    default:
      delta satisfies never;
      return block ?? { type: "text", text: "" };
  }
}

function createCallBlock(id: string, name: string): ToolCallBlock {
  return { type: "tool_call", id, name, arguments: {}, partialJson: "" };
}
