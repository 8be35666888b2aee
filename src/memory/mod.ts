/**
 * Sessions that survive crashes, and transforms that fit a history into the model's context window.
 *
 * A session store keeps append-only logs: in files, in SQLite or in memory. `recordSession()` appends the events of an
 * agent to a session, and `resumeSession()` restores an agent from one, also after a crash in the middle of a run.
 * `slidingWindow()` and `summarize()` are values for the agent's `transformContext`: they change what a request contains
 * and never the history or the session.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { InMemorySessionStore, recordSession, resumeSession } from "@swink/agent/memory";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const store = new InMemorySessionStore();
 * const options = { model: "any/model", streamFn: scriptedStream([reply("Hello!")]) };
 * const agent = new Agent(options);
 * const recording = await recordSession(agent, store);
 * await agent.prompt("Hello");
 * await recording.stop();
 *
 * const resumed = await resumeSession(store, recording.session.id);
 * const next = new Agent(options);
 * await using _recording = await resumed.into(next);
 * next.state.messages.length; // 2: the prompt and the reply
 * ```
 *
 * @module
 */

export type { CompactionReport } from "../core/messages/compaction_report.ts";
export type { SessionErrorReason, SessionFailure, SessionOwner } from "../core/errors/errors.ts";
export type * from "../core/sessions/session.ts";
export type * from "../core/sessions/session_entry.ts";
export {
  InMemorySessionStore,
  type InMemorySessionStoreOptions,
} from "./storage/in_memory_store.ts";
export { createMemoryStorage } from "./storage/memory_storage.ts";
export { StorageSessionStore, type StoreFromOptions } from "./storage/storage_session_store.ts";
export { storeFrom } from "./storage/store_from.ts";
export type {
  EntryAppend,
  EntryStorage,
  LeaseRequest,
  LeaseResult,
  StorageHit,
  StorageListOptions,
  StorageSearch,
  StoredEntry,
  StoredSession,
} from "./storage/entry_storage.ts";
export {
  getSubAgentLink,
  listSubAgents,
  listWithoutSubAgents,
  type SubAgentLink,
} from "./store/sub_agent_link.ts";
export { deleteSubAgents, type DeleteSubAgentsOptions } from "./store/delete_sub_agents.ts";
export type { DetachedAgent } from "./recording/sub_agent_sessions.ts";
export { type HitPosition, selectSummaries, type SessionOrder } from "./store/session_page.ts";
export { scopeStore, type SessionScope } from "./storage/scoped_store.ts";
export { FileSessionStore, type FileSessionStoreOptions } from "./file/file_store.ts";
export { SqliteSessionStore, type SqliteSessionStoreOptions } from "./sqlite/sqlite_store.ts";
export { forkSession, type ForkSessionOptions } from "./transfer/fork.ts";
export { exportHtml } from "./transfer/export_html.ts";
export { exportJsonl } from "./transfer/export_jsonl.ts";
export { exportMarkdown } from "./transfer/export_markdown.ts";
export type { ExportOptions } from "./transfer/transcript.ts";
export {
  type ImportedSession,
  importSession,
  type ImportSessionOptions,
} from "./transfer/import_session.ts";
export { slidingWindow } from "./context/sliding_window.ts";
export { summarize, type SummarizeOptions } from "./context/summarize.ts";
export { composeTransforms } from "./context/compose_transforms.ts";
export { compact, type CompactNowOptions } from "./context/compact.ts";
export type {
  CompactingTransform,
  CompactionOptions,
  CompactOptions,
  ContextCut,
  ContextView,
} from "./context/compaction.ts";
export type { CountTokens, HistoryRange } from "./context/message_groups.ts";
export { isPlan } from "./context/plan_message.ts";
export {
  type ContextGauge,
  contextGauge,
  type ContextGaugeOptions,
} from "./context/context_gauge.ts";
export type { ContextCount } from "./context/context_count.ts";
export type { AgentHookOptions } from "./recording/agent_hooks.ts";
export { recordSession } from "./recording/record_session.ts";
export type { RecordSessionOptions, SessionRecording } from "./recording/session_recording.ts";
export {
  type ResumedAgent,
  type ResumedSession,
  type ResumeIntoOptions,
  resumeSession,
  type ResumeSessionOptions,
} from "./recording/resume.ts";
export {
  type OpenedSession,
  openSession,
  type OpenSessionOptions,
} from "./recording/open_session.ts";
export type {
  ResumedApproval,
  ResumedPlan,
  ResumedPlanStep,
  SessionState,
} from "./recording/session_state.ts";
export type { PendingCall } from "./recording/pending_calls.ts";
export {
  type AgentCheckpoint,
  checkpoint,
  restore,
  type RestoredCheckpoint,
  type RestoreOptions,
} from "./recording/checkpoint.ts";
