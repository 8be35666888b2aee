/**
 * The entries of a session log.
 *
 * A session is an append-only tree of entries. A new entry is a child of the leaf and becomes the leaf. To go back, an
 * entry is appended whose parent is an older one: nothing is deleted, and the leaf survives a restart.
 *
 * @module
 */

import type {
  ApprovalDecision,
  ApprovalMode,
  DecidedCall,
  PendingApproval,
  TrustGrant,
} from "../approval/approval.ts";
import type { AgentErrorRecord } from "../errors/errors.ts";
import type { QueuedMessages } from "../events/event.ts";
import type { SubAgentMode, SubAgentStatus, SubAgentWorktree } from "../events/run_session.ts";
import type { StoppedBy } from "../events/stopped_by.ts";
import type { JsonObject } from "../json/json.ts";
import type { AgentMessage, AssistantMessage } from "../messages/message.ts";
import type { AgentToolResult } from "../messages/tool_result.ts";
import type { ModelSpec, StopReason } from "../models/model.ts";
import type { Cost, Usage } from "../models/usage.ts";
import type { ToolSpec } from "../streams/stream.ts";
import type { SideEffect } from "../tools/tool.ts";

/** The first line of a session log. */
export interface SessionHeader {
  readonly type: "session";
  /** Version of the log format. */
  readonly version: number;
  /** Id of the session, unique in its store. */
  readonly id: string;
  /** Time of creation, in milliseconds since the epoch. */
  readonly created: number;
  /** Working directory of the session. */
  readonly cwd?: string;
  /** The tenant that the session belongs to, in a store for many. */
  readonly tenant?: string;
  /** The user that the session belongs to, in a store for many. */
  readonly user?: string;
  /** Data of the application. */
  readonly metadata?: JsonObject;
  /** The session and entry that it was forked from, if any. */
  readonly parent?: { readonly sessionId: string; readonly entryId: string | null } | undefined;
}

/** A message of the conversation. */
export interface MessageEntry {
  readonly type: "message";
  /** The message. */
  readonly message: AgentMessage;
  /** Whether an entry of another branch has the message too, so that its tokens are counted already. Default: `false`. */
  readonly isCopy?: boolean;
  /** Whether the application appended it between runs, so that no run was to reply to it. Default: `false`. */
  readonly isBetweenRuns?: boolean;
}

/** A reply without content, which is not part of the conversation; its tokens count. */
export interface ReplyFailedEntry {
  readonly type: "reply_failed";
  /** The reply, with its error, usage and cost. */
  readonly message: AssistantMessage;
}

/** Entry of the tool journal: a tool call is about to run. */
export interface ToolStartedEntry {
  readonly type: "tool_started";
  /** Id of the entry of the assistant message with the call. */
  readonly messageId: string | null;
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The final arguments, after policies and approval. */
  readonly arguments: JsonObject;
  /** Effect of running the call again. */
  readonly sideEffect: SideEffect;
  /** The idempotency key passed to the tool. */
  readonly idempotencyKey: string;
}

/** Entry of the tool journal: a tool call has ended. */
export interface ToolFinishedEntry {
  readonly type: "tool_finished";
  /** Id of the entry of the assistant message with the call. */
  readonly messageId: string | null;
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The result of the tool. */
  readonly result: AgentToolResult;
  /** Whether the call failed, was refused or was cancelled. */
  readonly isError: boolean;
}

/** The model or the thinking level has changed. */
export interface ModelChangedEntry {
  readonly type: "model_changed";
  /** The new model. */
  readonly model: ModelSpec;
}

/** The tools of the agent have changed. */
export interface ToolsChangedEntry {
  readonly type: "tools_changed";
  /** The names of the new tools. */
  readonly names: readonly string[];
  /** The new tools as the model gets them. */
  readonly tools?: readonly ToolSpec[];
}

/** The system prompt of the agent has changed. */
export interface SystemPromptChangedEntry {
  readonly type: "system_prompt_changed";
  /** The new system prompt; empty for none. */
  readonly systemPrompt: string;
}

/** The messages in the queues have changed. */
export interface QueueChangedEntry {
  readonly type: "queue_changed";
  /** The messages in the queues after the change. */
  readonly queued: QueuedMessages;
  /** Messages that a run has taken out of the queues, but not yet appended to the conversation. */
  readonly delivering?: QueuedMessages;
}

/** Later requests omit a part of the conversation; its entries are kept. */
export interface CompactionEntry {
  readonly type: "compaction";
  /** Id of the first omitted entry. */
  readonly firstDroppedId: string | null;
  /** Id of the last omitted entry. */
  readonly lastDroppedId: string | null;
  /** Id of the latest entry when the cut was made. Default: the last message before this entry. */
  readonly newestId?: string;
  /** Ids of the entries between them that requests keep. Default: none. */
  readonly pinnedIds?: readonly string[];
  /** Number of omitted messages. */
  readonly droppedCount: number;
  /** Estimated tokens of the messages before the compaction. */
  readonly tokensBefore: number;
  /** Estimated tokens of the messages after the compaction. */
  readonly tokensAfter: number;
  /** The summary that replaces the omitted messages, if one was written. */
  readonly summary?: string;
  /** Whether the summary lacks a part that could not be summarized yet. Default: `false`. */
  readonly isIncomplete?: boolean;
  /** Token counts of the summary's model call. */
  readonly usage?: Usage;
  /** Cost of the summary's model call. */
  readonly cost?: Cost;
}

/** A sub-agent was started. */
export interface SubAgentSpawnedEntry {
  readonly type: "sub_agent_spawned";
  /** Id of the sub-agent, unique in the session. */
  readonly subAgentId: string;
  /** The prompt of the sub-agent. */
  readonly prompt: string;
  /** Name of the kind of sub-agent. */
  readonly name?: string;
  /** Id of the tool call that started the sub-agent. */
  readonly toolCallId?: string;
  /** Id of the sub-agent's own session, if it has one. */
  readonly sessionId?: string;
  /** How it works. Default: `"foreground"`. */
  readonly mode?: SubAgentMode;
  /** Its worktree, if it has one. */
  readonly worktree?: SubAgentWorktree;
}

/** A sub-agent has finished. */
export interface SubAgentResultEntry {
  readonly type: "sub_agent_result";
  /** Id of the sub-agent. */
  readonly subAgentId: string;
  /** The answer of the sub-agent. */
  readonly result: string;
  /** Whether the sub-agent failed, was cancelled or was interrupted. */
  readonly isError: boolean;
  /** How the sub-agent ended. Default: by `isError`. */
  readonly status?: SubAgentStatus;
  /** Whether the result of the tool call has the same usage and cost, so that they count once. Default: `false`. */
  readonly isCounted?: boolean;
  /** Token counts of the sub-agent. */
  readonly usage?: Usage;
  /** Cost of the sub-agent. */
  readonly cost?: Cost;
}

/** A message of a sub-agent, which a tool call runs. */
export interface SubAgentMessageEntry {
  readonly type: "sub_agent_message";
  /** Ids of the tool calls that lead to the sub-agent, the outermost first. */
  readonly path: readonly string[];
  /** The message. */
  readonly message: AgentMessage;
}

/** A plan was created. */
export interface PlanCreatedEntry {
  readonly type: "plan_created";
  /** The plan, as Markdown. */
  readonly plan: string;
  /** The steps of the plan, in order. */
  readonly steps: readonly string[];
  /** SHA-256 of the plan that was approved, without the states of its steps; missing if none was. */
  readonly approvedHash?: string;
}

/** State of a step of the plan. */
export type PlanStepState = "pending" | "in_progress" | "complete" | "failed";

/** The state of a step of the plan has changed. */
export interface PlanStepEntry {
  readonly type: "plan_step";
  /** Index of the step, from 0. */
  readonly step: number;
  /** The new state. */
  readonly state: PlanStepState;
  /** Optional comment. */
  readonly note?: string;
}

/** Plan mode was turned on or off. */
export interface PlanModeEntry {
  readonly type: "plan_mode";
  /** Whether plan mode is on, in which only read-only tools are available. */
  readonly active: boolean;
}

/** A tool call was approved or denied. */
export interface ApprovalEntry {
  readonly type: "approval";
  /** Id of the call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The decision. */
  readonly decision: ApprovalDecision;
}

/** Tool calls of a reply wait for decisions, so that none of its calls has run. */
export interface ApprovalsPendingEntry {
  readonly type: "approvals_pending";
  /** Id of the entry of the assistant message with the calls. */
  readonly messageId: string | null;
  /** The calls that wait; none if they wait no longer. */
  readonly pendingApprovals: readonly PendingApproval[];
  /** The other calls of the reply. */
  readonly decidedCalls?: readonly DecidedCall[];
}

/** The grants of the approval gate have changed. */
export interface GrantsChangedEntry {
  readonly type: "grants_changed";
  /** All grants of the session. */
  readonly grants: readonly TrustGrant[];
}

/** The approval mode has changed. */
export interface ApprovalModeEntry {
  readonly type: "approval_mode";
  /** The new mode. */
  readonly mode: ApprovalMode;
}

/** The label of an entry was set or removed. */
export interface LabelEntry {
  readonly type: "label";
  /** Id of the labelled entry. */
  readonly targetId: string;
  /** The new label; `null` removes it. */
  readonly label: string | null;
}

/** The title of the session was set. */
export interface TitleEntry {
  readonly type: "title";
  /** The title. */
  readonly title: string;
}

/** The leaf was moved; the parent of this entry is the new position. */
export interface LeafMovedEntry {
  readonly type: "leaf_moved";
  /** Id of the previous leaf. */
  readonly from: string | null;
}

/** A run has ended. Entries after the last one of this type belong to an interrupted run. */
export interface RunEndedEntry {
  readonly type: "run_ended";
  /** The reason why the last reply ended. */
  readonly stopReason: StopReason;
  /** The error, if the run failed. */
  readonly error?: AgentErrorRecord;
  /** The policy that stopped the run, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** An entry defined by the application. */
export interface CustomEntry {
  readonly type: "custom";
  /** Name of the entry, chosen by the application. */
  readonly name: string;
  /** Any JSON value. */
  readonly data: unknown;
}

/** An entry whose type is unknown to this version; kept unchanged. */
export interface OpaqueEntry {
  readonly type: "opaque";
  /** The entry as stored in the log. */
  readonly record: JsonObject;
}

/** An entry without its position in the tree. */
export type SessionEntryBody =
  | MessageEntry
  | ReplyFailedEntry
  | ToolStartedEntry
  | ToolFinishedEntry
  | ModelChangedEntry
  | ToolsChangedEntry
  | SystemPromptChangedEntry
  | QueueChangedEntry
  | CompactionEntry
  | SubAgentMessageEntry
  | SubAgentSpawnedEntry
  | SubAgentResultEntry
  | PlanCreatedEntry
  | PlanStepEntry
  | PlanModeEntry
  | ApprovalEntry
  | ApprovalsPendingEntry
  | GrantsChangedEntry
  | ApprovalModeEntry
  | LabelEntry
  | TitleEntry
  | LeafMovedEntry
  | RunEndedEntry
  | CustomEntry
  | OpaqueEntry;

/** Type of an entry. */
export type SessionEntryType = SessionEntryBody["type"];

/** Position of an entry in its session. */
export interface EntryPosition {
  /** Id of the entry, unique in the session. */
  readonly id: string;
  /** Id of the parent entry; `null` for a root. */
  readonly parentId: string | null;
  /** Time of the entry, in milliseconds since the epoch. */
  readonly timestamp: number;
}

/** An entry of a session. */
export type SessionEntry = SessionEntryBody & EntryPosition;

/** An entry without its content. */
export interface EntryOutline extends EntryPosition {
  /** Type of the entry. */
  readonly type: SessionEntryType;
}
