/**
 * Everything that an observer of an agent can see.
 *
 * @module
 */

import type { ApprovalDecision } from "./approval.ts";
import type { CompactionReport } from "./context.ts";
import type { AgentError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "./message.ts";
import type { ModelSpec, StopReason } from "./model.ts";
import type { StoppedBy } from "./policy.ts";
import type { AssistantMessageDelta } from "./stream.ts";
import type { AgentToolResult, ToolUpdate } from "./tool.ts";
import type { Cost, Usage } from "./usage.ts";

/** Why a turn ended. */
export type TurnEndReason =
  | "complete"
  | "tools_executed"
  | "steering_interrupt"
  | "error"
  | "aborted";

/** A message that waits in a queue. */
export interface QueuedMessage {
  /** Name by which it can be taken back. */
  readonly id: string;
  /** The message. */
  readonly message: AgentMessage;
}

/** What waits in both queues. */
export interface QueuedMessages {
  /** For the running turn. */
  readonly steering: readonly QueuedMessage[];
  /** For when the agent would stop. */
  readonly followUp: readonly QueuedMessage[];
}

/** How a run ended; {@linkcode AgentResult} and `agent_end` both carry it. */
export interface RunOutcome {
  /** What the run appended to the history, in order, prompt included. */
  readonly messages: readonly AgentMessage[];
  /** Why the last reply ended. */
  readonly stopReason: StopReason;
  /** Tokens of the whole run. */
  readonly usage: Usage;
  /** Cost of the whole run. */
  readonly cost: Cost;
  /** What went wrong, if anything. */
  readonly error?: AgentError;
  /** The policy that ended the run, if one did. */
  readonly stoppedBy?: StoppedBy;
  /** Why the run was aborted, if it was. */
  readonly abortReason?: unknown;
}

/** The run begins. */
export interface AgentStartEvent {
  /** Discriminant. */
  readonly type: "agent_start";
  /** Id of the run. */
  readonly runId: string;
}

/** The run is over; the last event of a run. */
export interface AgentEndEvent extends RunOutcome {
  /** Discriminant. */
  readonly type: "agent_end";
}

/** A turn begins: one reply with its tool calls and their results. */
export interface TurnStartEvent {
  /** Discriminant. */
  readonly type: "turn_start";
  /** Number of the turn in this run; the first is 1. */
  readonly turn: number;
}

/** A turn is over. */
export interface TurnEndEvent {
  /** Discriminant. */
  readonly type: "turn_end";
  /** Number of the turn in this run. */
  readonly turn: number;
  /** The reply. */
  readonly message: AssistantMessage;
  /** The results of its calls, in call order. */
  readonly toolResults: readonly ToolResultMessage[];
  /** Why it ended. */
  readonly reason: TurnEndReason;
}

/** A message begins; an assistant's has no content and no usage yet. */
export interface MessageStartEvent {
  /** Discriminant. */
  readonly type: "message_start";
  /** The message. */
  readonly message: AgentMessage;
}

/** The assistant's message grows. */
export interface MessageUpdateEvent {
  /** Discriminant. */
  readonly type: "message_update";
  /** What is new. */
  readonly delta: AssistantMessageDelta;
}

/** A message is complete. */
export interface MessageEndEvent {
  /** Discriminant. */
  readonly type: "message_end";
  /** The message. */
  readonly message: AgentMessage;
}

/** A tool call begins, with the arguments that will run. */
export interface ToolExecutionStartEvent {
  /** Discriminant. */
  readonly type: "tool_execution_start";
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly arguments: JsonObject;
}

/** A running tool shows a partial result. */
export interface ToolExecutionUpdateEvent {
  /** Discriminant. */
  readonly type: "tool_execution_update";
  /** Id of the call. */
  readonly id: string;
  /** The partial result. */
  readonly update: ToolUpdate;
}

/** A tool call has ended. */
export interface ToolExecutionEndEvent {
  /** Discriminant. */
  readonly type: "tool_execution_end";
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The result. */
  readonly result: AgentToolResult;
  /** Whether it failed, was refused or was cancelled. */
  readonly isError: boolean;
}

/** Somebody is asked whether a call may run. */
export interface ToolApprovalRequestedEvent {
  /** Discriminant. */
  readonly type: "tool_approval_requested";
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments that would run. */
  readonly arguments: JsonObject;
}

/** The answer has come. */
export interface ToolApprovalResolvedEvent {
  /** Discriminant. */
  readonly type: "tool_approval_resolved";
  /** Id of the call. */
  readonly id: string;
  /** The answer. */
  readonly decision: ApprovalDecision;
}

/** A model call failed and will be tried again. */
export interface RetryEvent {
  /** Discriminant. */
  readonly type: "retry";
  /** Which attempt failed; the first is 1. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
  /** Why it failed. */
  readonly error: AgentError;
  /** Whether what the attempt has shown is void; the message then starts again. */
  readonly discard: boolean;
}

/** The next model of the fallback list is asked. */
export interface ModelFallbackEvent {
  /** Discriminant. */
  readonly type: "model_fallback";
  /** The model that failed. */
  readonly from: ModelSpec;
  /** The model that is asked now. */
  readonly to: ModelSpec;
}

/** The request carries less than the history. */
export interface ContextCompactedEvent {
  /** Discriminant. */
  readonly type: "context_compacted";
  /** What was done. */
  readonly report: CompactionReport;
}

/** Something went wrong that did not stop the run. */
export interface WarningEvent {
  /** Discriminant. */
  readonly type: "warning";
  /** Names the kind of warning. */
  readonly code: string;
  /** The warning in words. */
  readonly message: string;
  /** Facts about it; any JSON value. */
  readonly data?: unknown;
}

/** An event of the application's own. */
export interface CustomEvent {
  /** Discriminant. */
  readonly type: "custom";
  /** The application's name for it. */
  readonly name: string;
  /** Any JSON value. */
  readonly data: unknown;
}

/** A queue has changed; also told while the agent is idle. */
export interface QueueChangedEvent {
  /** Discriminant. */
  readonly type: "queue_changed";
  /** What waits now. */
  readonly queued: QueuedMessages;
}

/** The model has changed, from the next turn on; also told while the agent is idle. */
export interface ModelChangedEvent {
  /** Discriminant. */
  readonly type: "model_changed";
  /** The model before. */
  readonly from: ModelSpec;
  /** The model from now on. */
  readonly to: ModelSpec;
}

/** An event without its number. */
export type AgentEventBody =
  | AgentStartEvent
  | AgentEndEvent
  | TurnStartEvent
  | TurnEndEvent
  | MessageStartEvent
  | MessageUpdateEvent
  | MessageEndEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent
  | ToolApprovalRequestedEvent
  | ToolApprovalResolvedEvent
  | RetryEvent
  | ModelFallbackEvent
  | ContextCompactedEvent
  | WarningEvent
  | CustomEvent
  | QueueChangedEvent
  | ModelChangedEvent;

/**
 * Everything that an observer can see. Events are never changed after they were emitted.
 *
 * Order of a turn without tools: `agent_start`, `turn_start`, `message_start` and `message_end` of the user's
 * message, `message_start`, `message_update`s and `message_end` of the assistant's, `turn_end`, `agent_end`.
 * Tool events stand between the assistant's `message_end` and `turn_end`, and are followed by the tool
 * results as messages, in call order.
 */
export type AgentEvent = AgentEventBody & {
  /** Number of the event in its run: 1, 2, 3 …; missing on events that were emitted while idle. */
  readonly seq?: number;
};
