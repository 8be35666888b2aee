/**
 * Sessions that no crash can spoil, and histories that fit the model's window.
 *
 * @module
 */

export type * from "../core/session.ts";
export type * from "../core/session_entry.ts";
export { InMemorySessionStore, type InMemorySessionStoreOptions } from "./in_memory_store.ts";
export { FileSessionStore, type FileSessionStoreOptions } from "./file_store.ts";
export type {
  FileFacts,
  FileSystem,
  GrowingFile,
  LockableFile,
  ReadableFile,
} from "./file_system.ts";
export { SqliteSessionStore, type SqliteSessionStoreOptions } from "./sqlite_store.ts";
export { forkSession, type ForkSessionOptions } from "./fork.ts";
export { exportHtml } from "./export_html.ts";
export { exportJsonl } from "./export_jsonl.ts";
export { exportMarkdown } from "./export_markdown.ts";
export type { ExportOptions } from "./transcript.ts";
export {
  type ImportedSession,
  importSession,
  type ImportSessionOptions,
} from "./import_session.ts";
export { slidingWindow } from "./sliding_window.ts";
export { summarize, type SummarizeOptions } from "./summarize.ts";
export { composeTransforms } from "./compose_transforms.ts";
export { compact, type CompactNowOptions } from "./compact.ts";
export type {
  CompactingTransform,
  CompactionOptions,
  CompactOptions,
  ContextCut,
  ContextView,
} from "./compaction.ts";
export type { CountTokens, HistoryPart } from "./message_groups.ts";
export { isPlan } from "./plan_message.ts";
export { type ContextGauge, contextGauge, type ContextGaugeOptions } from "./context_gauge.ts";
export type { ContextCount } from "./context_count.ts";
export { recordSession, type RecordSessionOptions, type SessionRecording } from "./recorder.ts";
export {
  type ResumedAgent,
  type ResumedSession,
  type ResumeIntoOptions,
  resumeSession,
  type ResumeSessionOptions,
} from "./resume.ts";
export type {
  ResumedApproval,
  ResumedPlan,
  ResumedPlanStep,
  SessionState,
} from "./session_state.ts";
export type { PendingCall } from "./settle.ts";
export {
  type AgentCheckpoint,
  checkpoint,
  restore,
  type RestoredCheckpoint,
} from "./checkpoint.ts";
