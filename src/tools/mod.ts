/**
 * Tools for coding agents, and the sandbox in which they act.
 *
 * @module
 */

export {
  type ApprovalGate,
  approvalGate,
  type ApprovalGateOptions,
  type Ask,
  type GateRequest,
  type Trust,
} from "./approval_gate.ts";
export { type CommandJudgement, judgeCommand } from "./command_judge.ts";
export { confinedExecMain } from "./confined_exec.ts";
export { planMode } from "./plan_mode.ts";
export { codingTools, type CodingToolsOptions } from "./coding_tools.ts";
export {
  createSandbox,
  type Sandbox,
  type SandboxCommand,
  type SandboxNet,
  type SandboxOptions,
} from "./sandbox.ts";
export type { EnforcedBy, SandboxReport, SandboxRule } from "./sandbox_report.ts";
export type { FolderEntry, OpenedFile, SandboxFiles } from "./sandbox_files.ts";
export { type FetchUrlOptions, fetchUrlTool } from "./fetch_url.ts";
export {
  FileJournal,
  type JournalEntry,
  type JournalStore,
  MemoryJournalStore,
  type UndoReport,
  undoTurn,
} from "./file_journal.ts";
export { FolderJournalStore } from "./file_journal_store.ts";
export { type FileAccess, PROTECTED_FILES } from "./file_rules.ts";
export { type IgnoreRule, type IgnoreRules, isIgnored, parseIgnoreFile } from "./git_ignore.ts";
export {
  type IsolatedPermissions,
  isolatedTool,
  type IsolatedToolOptions,
} from "./isolated_tool.ts";
export {
  findSkills,
  type FoundSkills,
  type Skill,
  type SkillProblem,
  skillTool,
} from "./skills.ts";
export { type TodoItem, todoTool } from "./todo.ts";
export type { ProcessExit, RunningProcess } from "./running_process.ts";
export { unifiedDiff } from "./unified_diff.ts";
