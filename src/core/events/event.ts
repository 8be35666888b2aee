/**
 * The events of a run.
 *
 * @module
 */

import type {
  ApprovalDecision,
  DecidedCall,
  InterruptedCall,
  PendingApproval,
} from "../approval/approval.ts";
import type { AgentError } from "../errors/errors.ts";
import type { JsonObject } from "../json/json.ts";
import type { CompactionReport } from "../messages/compaction_report.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "../messages/message.ts";
import type { AgentToolResult, ToolUpdate } from "../messages/tool_result.ts";
import type { ModelSpec, StopReason } from "../models/model.ts";
import type { Cost, LateSpending, Usage } from "../models/usage.ts";
import type { AssistantMessageDelta } from "../streams/stream.ts";
import type { StoppedBy } from "./stopped_by.ts";

/**
 * Reason for the end of a turn.
 *
 * `complete`: a reply without tool calls. `tools_executed`: all tool calls have results. `steering_interrupt`: steering
 * cancelled tool calls. `approval_pending`: the tool calls wait for decisions and have no results yet. `error` and
 * `aborted`: as in the reply's `stopReason`.
 */
export type TurnEndReason =
  | "complete"
  | "tools_executed"
  | "steering_interrupt"
  | "approval_pending"
  | "error"
  | "aborted";

/** A message in a queue. */
export interface QueuedMessage {
  /** Id by which the message can be removed from the queue. */
  readonly id: string;
  /** The message. */
  readonly message: AgentMessage;
}

/** The messages in both queues, in order. */
export interface QueuedMessages {
  /** Messages to deliver with the next model call. */
  readonly steering: readonly QueuedMessage[];
  /** Messages to deliver when the run would otherwise end. */
  readonly followUp: readonly QueuedMessage[];
}

/** Outcome of a run, part of `AgentResult` and of {@linkcode AgentEndEvent}. */
export interface RunOutcome {
  /** The messages that the run appended to the history, in order, including the prompt. */
  readonly messages: readonly AgentMessage[];
  /** The reason why the last reply ended. */
  readonly stopReason: StopReason;
  /** Token counts of the run: its model calls, summaries, and what its tools report. */
  readonly usage: Usage;
  /** Cost of the run; an amount is `null` if any part of it is unknown. */
  readonly cost: Cost;
  /** Spending of agents after the end of the tool calls that run them, as part of `usage` and `cost`. Default: none. */
  readonly lateSpending?: readonly LateSpending[];
  /** The error, if the run failed. */
  readonly error?: AgentError;
  /** The policy that stopped the run, if one did. */
  readonly stoppedBy?: StoppedBy;
  /** The reason passed to the abort, if the run was aborted. */
  readonly abortReason?: unknown;
  /** The tool calls that wait for a decision, if the run ended because of them. */
  readonly pendingApprovals?: readonly PendingApproval[];
  /** The other calls of the same reply, which are decided already but have not run. */
  readonly decidedCalls?: readonly DecidedCall[] | undefined;
  /** The calls of the same reply that an earlier process interrupted. */
  readonly interruptedCalls?: readonly InterruptedCall[] | undefined;
}

/** Emitted first in a run. */
export interface AgentStartEvent {
  readonly type: "agent_start";
  /** Id of the run. */
  readonly runId: string;
}

/** Emitted last in a run. */
export interface AgentEndEvent extends RunOutcome {
  readonly type: "agent_end";
}

/** Emitted when a turn starts: one reply with its tool calls and their results. */
export interface TurnStartEvent {
  readonly type: "turn_start";
  /** Number of the turn in the run, from 1. */
  readonly turn: number;
}

/** Emitted when a turn ends. */
export interface TurnEndEvent {
  readonly type: "turn_end";
  /** Number of the turn in the run, from 1. */
  readonly turn: number;
  /** The reply: the object of its `message_end`. */
  readonly message: AssistantMessage;
  /** The results of its tool calls, in call order: the objects of their `message_end` events. */
  readonly toolResults: readonly ToolResultMessage[];
  /** The reason for the end. */
  readonly reason: TurnEndReason;
  /** The tool calls that wait for a decision, if there are any, as in {@linkcode AgentEndEvent}. */
  readonly pendingApprovals?: readonly PendingApproval[];
  /** The other calls of the same reply, which are decided already but have not run. */
  readonly decidedCalls?: readonly DecidedCall[] | undefined;
  /** The calls of the same reply that an earlier process interrupted. */
  readonly interruptedCalls?: readonly InterruptedCall[] | undefined;
}

/** Emitted when a message starts; an assistant message has no content and zero usage at this point. */
export interface MessageStartEvent {
  readonly type: "message_start";
  /** The message. */
  readonly message: AgentMessage;
}

/** Emitted for each delta of an assistant message. */
export interface MessageUpdateEvent {
  readonly type: "message_update";
  /** The new part of the message. */
  readonly delta: AssistantMessageDelta;
}

/** Emitted when a message is complete. */
export interface MessageEndEvent {
  readonly type: "message_end";
  /** The message. */
  readonly message: AgentMessage;
}

/** Emitted before a tool call runs, and for a call that is refused. */
export interface ToolExecutionStartEvent {
  readonly type: "tool_execution_start";
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments to run, after policies and approval. */
  readonly arguments: JsonObject;
  /** The key of the earlier attempts, if an earlier process started the call. Default: `<run id>:<call id>`. */
  readonly idempotencyKey?: string;
}

/** Emitted for a partial result of a running tool. */
export interface ToolExecutionUpdateEvent {
  readonly type: "tool_execution_update";
  /** Id of the call. */
  readonly id: string;
  /** The partial result. */
  readonly update: ToolUpdate;
}

/** Emitted when a tool call has ended. */
export interface ToolExecutionEndEvent {
  readonly type: "tool_execution_end";
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The result. */
  readonly result: AgentToolResult;
  /** Whether the call failed, was refused or was cancelled. */
  readonly isError: boolean;
}

/** Emitted before a tool call is passed to `approve`. */
export interface ToolApprovalRequestedEvent {
  readonly type: "tool_approval_requested";
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments to approve. */
  readonly arguments: JsonObject;
}

/** Emitted when a tool call was approved or denied; a pending one is resolved in a later run. */
export interface ToolApprovalResolvedEvent {
  readonly type: "tool_approval_resolved";
  /** Id of the call. */
  readonly id: string;
  /** The decision. */
  readonly decision: ApprovalDecision;
}

/** Emitted when a model call failed and will be retried. */
export interface RetryEvent {
  readonly type: "retry";
  /** Number of the failed attempt, from 1. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
  /** The error of the failed attempt. */
  readonly error: AgentError;
  /** Whether to discard the deltas of the failed attempt; the message then starts again from empty. */
  readonly discard: boolean;
}

/** Emitted before the next model of the fallback list is called. */
export interface ModelFallbackEvent {
  readonly type: "model_fallback";
  /** The model that failed. */
  readonly from: ModelSpec;
  /** The model that is called next. */
  readonly to: ModelSpec;
  /** Whether to discard the deltas of the failed attempts; the message then starts again from empty. */
  readonly discard: boolean;
}

/** Emitted before each attempt of a model call. */
export interface ModelCallStartEvent {
  readonly type: "model_call_start";
  /** Number of the turn in the run, from 1. */
  readonly turn: number;
  /** Number of the attempt in the turn, from 1, over all models. */
  readonly attempt: number;
  /** The model that is called. */
  readonly model: ModelSpec;
}

/** Emitted after each attempt of a model call. */
export interface ModelCallEndEvent {
  readonly type: "model_call_end";
  /** Number of the turn in the run, from 1. */
  readonly turn: number;
  /** Number of the attempt in the turn, from 1, over all models. */
  readonly attempt: number;
  /** The model that was called. */
  readonly model: ModelSpec;
  /** Time to the first token, in milliseconds; missing if no token arrived. */
  readonly ttftMs?: number;
  /** Duration of the attempt, in milliseconds. */
  readonly durationMs: number;
  /** Token counts of the attempt. */
  readonly usage: Usage;
  /** Cost of the attempt. */
  readonly cost: Cost;
  /** The provider's id of the reply, if it has one. */
  readonly responseId?: string;
  /** The error, if the attempt failed or was aborted. */
  readonly error?: AgentError;
}

/** An event of an agent that a tool call runs. */
export interface SubAgentEvent {
  readonly type: "sub_agent";
  /** Ids of the tool calls that lead to the agent, the outermost first. */
  readonly path: readonly string[];
  /** The event. */
  readonly event: AgentEvent;
}

/** Emitted when `transformContext` reports that a request omits part of the history. */
export interface ContextCompactedEvent {
  readonly type: "context_compacted";
  /** The report of `transformContext`. */
  readonly report: CompactionReport;
}

/** Emitted for a problem that does not end the run; the same one of a reply is emitted once a run. */
export interface WarningEvent {
  readonly type: "warning";
  /** Kind of warning, such as `"policy_failed"`. */
  readonly code: string;
  /** Description for the user. */
  readonly message: string;
  /** Details, any JSON value. */
  readonly data?: unknown;
}

/** An event defined by the application. */
export interface CustomEvent {
  readonly type: "custom";
  /** Name of the event, chosen by the application. */
  readonly name: string;
  /** Any JSON value. */
  readonly data: unknown;
}

/** Emitted when a queue has changed, also while the agent is idle. */
export interface QueueChangedEvent {
  readonly type: "queue_changed";
  /** The messages in the queues after the change. */
  readonly queued: QueuedMessages;
}

/** Emitted when the model of the next turn has changed, also while the agent is idle. */
export interface ModelChangedEvent {
  readonly type: "model_changed";
  /** The previous model. */
  readonly from: ModelSpec;
  /** The new model. */
  readonly to: ModelSpec;
}

/** An event without its sequence number. */
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
  | ModelCallStartEvent
  | ModelCallEndEvent
  | SubAgentEvent
  | ContextCompactedEvent
  | WarningEvent
  | CustomEvent
  | QueueChangedEvent
  | ModelChangedEvent;

/**
 * An event of an agent, immutable once emitted.
 *
 * Order in a run of one turn without tools: `agent_start`, `turn_start`, `message_start` and `message_end` of the user
 * message, `message_start` of the assistant message, `model_call_start`, any number of `message_update`,
 * `model_call_end`, `message_end` of the assistant message, `turn_end`, `agent_end`. Further attempts of the model call
 * follow a `retry` or `model_fallback`. Tool events come between the assistant's `message_end` and `turn_end`: approvals,
 * then the calls, then `message_start` and `message_end` of each tool result, in call order. `EventGrammar` of
 * `@swink/agent/testing` has the complete order.
 */
export type AgentEvent = AgentEventBody & {
  /** Number of the event in the run, from 1; missing on events emitted while the agent is idle. */
  readonly seq?: number;
};
