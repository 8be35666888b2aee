/**
 * Session entries: what the log of a conversation is made of.
 *
 * A session is a tree of entries that only ever grows. Each entry hangs on the one before it, and the entry
 * that was appended last is the leaf. Going back appends an entry that hangs on an older one: nothing is
 * deleted, and the leaf survives a restart.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalMode } from "./approval.ts";
import type { AgentErrorRecord } from "./errors.ts";
import type { QueuedMessages } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { AgentMessage } from "./message.ts";
import type { ModelSpec, StopReason } from "./model.ts";
import type { StoppedBy } from "./policy.ts";
import type { AgentToolResult, SideEffect } from "./tool.ts";
import type { Cost, Usage } from "./usage.ts";

/** The first line of a session. */
export interface SessionHeader {
  /** Discriminant. */
  readonly type: "session";
  /** Version of the format. */
  readonly version: number;
  /** Name of the session, unique in its store and safe in a path. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** The folder it was about. */
  readonly cwd?: string;
  /** Where it was forked from. */
  readonly parent?: { readonly sessionId: string; readonly entryId: string | null } | undefined;
}

/** A message of the conversation; an assistant's carries its usage and cost. */
export interface MessageEntry {
  /** Discriminant. */
  readonly type: "message";
  /** The message. */
  readonly message: AgentMessage;
}

/** The journal: a call is about to run. */
export interface ToolStartedEntry {
  /** Discriminant. */
  readonly type: "tool_started";
  /** The entry of the assistant message that made the call. */
  readonly messageId: string | null;
  /** The call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments that run, after policies and approval. */
  readonly arguments: JsonObject;
  /** What a repetition would do to the world. */
  readonly sideEffect: SideEffect;
  /** What the tool was given to tell a repetition by. */
  readonly idempotencyKey: string;
}

/** The journal: a call has ended. */
export interface ToolFinishedEntry {
  /** Discriminant. */
  readonly type: "tool_finished";
  /** The entry of the assistant message that made the call. */
  readonly messageId: string | null;
  /** The call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** What it answered. */
  readonly result: AgentToolResult;
  /** Whether it failed, was refused or was cancelled. */
  readonly isError: boolean;
}

/** From here on another model or thinking level is asked. */
export interface ModelChangedEntry {
  /** Discriminant. */
  readonly type: "model_changed";
  /** The model from now on. */
  readonly model: ModelSpec;
}

/** From here on the agent has these tools. */
export interface ToolsChangedEntry {
  /** Discriminant. */
  readonly type: "tools_changed";
  /** Their names. */
  readonly names: readonly string[];
}

/** What waits in the queues has changed. */
export interface QueueChangedEntry {
  /** Discriminant. */
  readonly type: "queue_changed";
  /** What waits now. */
  readonly queued: QueuedMessages;
  /** What a run has just taken out; it still waits until it stands in the conversation. */
  readonly delivering?: QueuedMessages;
}

/** From here on requests leave out a part of the conversation; the entries stay. */
export interface CompactionEntry {
  /** Discriminant. */
  readonly type: "compaction";
  /** The first entry that is left out. */
  readonly firstDroppedId: string | null;
  /** The last entry that is left out. */
  readonly lastDroppedId: string | null;
  /** How many messages are left out. */
  readonly droppedCount: number;
  /** Estimated tokens before. */
  readonly tokensBefore: number;
  /** Estimated tokens after. */
  readonly tokensAfter: number;
  /** What stands for them, where a summary was written. */
  readonly summary?: string;
  /** Tokens that writing the summary took. */
  readonly usage?: Usage;
  /** What writing the summary cost. */
  readonly cost?: Cost;
}

/** A sub-agent was given work. */
export interface SubAgentSpawnedEntry {
  /** Discriminant. */
  readonly type: "sub_agent_spawned";
  /** Name of this sub-agent within the session. */
  readonly subAgentId: string;
  /** What it was asked. */
  readonly prompt: string;
  /** What kind of sub-agent it is. */
  readonly name?: string;
  /** The call that spawned it. */
  readonly toolCallId?: string;
  /** The session that records it, if one does. */
  readonly sessionId?: string;
}

/** A sub-agent has answered. */
export interface SubAgentResultEntry {
  /** Discriminant. */
  readonly type: "sub_agent_result";
  /** Which one. */
  readonly subAgentId: string;
  /** Its answer. */
  readonly result: string;
  /** Whether it failed. */
  readonly isError: boolean;
  /** Tokens that it took. */
  readonly usage?: Usage;
  /** What it cost. */
  readonly cost?: Cost;
}

/** A plan was made. */
export interface PlanCreatedEntry {
  /** Discriminant. */
  readonly type: "plan_created";
  /** The plan, as Markdown. */
  readonly plan: string;
  /** Its steps. */
  readonly steps: readonly string[];
}

/** How far a step of the plan is. */
export type PlanStepState = "pending" | "in_progress" | "complete" | "failed";

/** A step of the plan has changed. */
export interface PlanStepEntry {
  /** Discriminant. */
  readonly type: "plan_step";
  /** Which one; the first is 0. */
  readonly step: number;
  /** How far it is. */
  readonly state: PlanStepState;
  /** A remark. */
  readonly note?: string;
}

/** Plan mode was switched. */
export interface PlanModeEntry {
  /** Discriminant. */
  readonly type: "plan_mode";
  /** Whether only read-only tools exist from here on. */
  readonly active: boolean;
}

/** Somebody was asked about a call, and answered. */
export interface ApprovalEntry {
  /** Discriminant. */
  readonly type: "approval";
  /** The call. */
  readonly toolCallId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The answer. */
  readonly decision: ApprovalDecision;
}

/** From here on other calls are asked about. */
export interface ApprovalModeEntry {
  /** Discriminant. */
  readonly type: "approval_mode";
  /** Which ones. */
  readonly mode: ApprovalMode;
}

/** A name for an entry; `null` takes it away. */
export interface LabelEntry {
  /** Discriminant. */
  readonly type: "label";
  /** The entry that is named. */
  readonly targetId: string;
  /** The name. */
  readonly label: string | null;
}

/** A title for the session. */
export interface TitleEntry {
  /** Discriminant. */
  readonly type: "title";
  /** The title. */
  readonly title: string;
}

/** The leaf was moved: this entry hangs on the new place. */
export interface LeafMovedEntry {
  /** Discriminant. */
  readonly type: "leaf_moved";
  /** The leaf before. */
  readonly from: string | null;
}

/** A run is over. What a session holds after the last of these was interrupted. */
export interface RunEndedEntry {
  /** Discriminant. */
  readonly type: "run_ended";
  /** Why the last reply ended. */
  readonly stopReason: StopReason;
  /** What went wrong, if anything. */
  readonly error?: AgentErrorRecord;
  /** The policy that ended the run, if one did. */
  readonly stoppedBy?: StoppedBy;
}

/** An entry of the application's own. */
export interface CustomEntry {
  /** Discriminant. */
  readonly type: "custom";
  /** The application's name for it. */
  readonly name: string;
  /** Any JSON value. */
  readonly data: unknown;
}

/** An entry of a kind that this version does not know; kept and written back as it is. */
export interface OpaqueEntry {
  /** Discriminant. */
  readonly type: "opaque";
  /** The entry as it stands in the log. */
  readonly record: JsonObject;
}

/** An entry without its place in the tree. */
export type SessionEntryBody =
  | MessageEntry
  | ToolStartedEntry
  | ToolFinishedEntry
  | ModelChangedEntry
  | ToolsChangedEntry
  | QueueChangedEntry
  | CompactionEntry
  | SubAgentSpawnedEntry
  | SubAgentResultEntry
  | PlanCreatedEntry
  | PlanStepEntry
  | PlanModeEntry
  | ApprovalEntry
  | ApprovalModeEntry
  | LabelEntry
  | TitleEntry
  | LeafMovedEntry
  | RunEndedEntry
  | CustomEntry
  | OpaqueEntry;

/** What kind of entry it is. */
export type SessionEntryType = SessionEntryBody["type"];

/** The place of an entry in its session. */
export interface EntryPosition {
  /** Unique in the session. */
  readonly id: string;
  /** The entry that it hangs on; `null` for the first. */
  readonly parentId: string | null;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** One entry of a session. */
export type SessionEntry = SessionEntryBody & EntryPosition;

/** An entry without its content: what the shape of a session is told by. */
export interface EntryOutline extends EntryPosition {
  /** What kind of entry it is. */
  readonly type: SessionEntryType;
}
