/**
 * Tools for coding agents and their sandbox.
 *
 * @module
 */

export {
  type ApprovalGate,
  approvalGate,
  type ApprovalGateOptions,
  type ApprovalPrompt,
  type GateRequest,
  type TrustGrant,
} from "./approval/approval_gate.ts";
export { assessCommand, type CommandAssessment } from "./approval/command_assessment.ts";
export { planMode } from "./approval/plan_mode.ts";
export { codingTools, type CodingToolsOptions } from "./coding_tools.ts";
export { createSandbox, type SandboxOptions } from "./sandbox/local_sandbox.ts";
export type { Sandbox, SandboxCommand, SandboxNet } from "./sandbox/sandbox.ts";
export type { EnforcedBy, SandboxReport, SandboxRule } from "./sandbox/sandbox_report.ts";
export type { EntryKind } from "./files/file_stat.ts";
export type { DirectoryEntry, SandboxFiles } from "./sandbox/sandbox_files.ts";
export { type FetchUrlOptions, fetchUrlTool } from "./fetch_url.ts";
export {
  ChangeLog,
  type ChangeLogEntry,
  type ChangeLogStore,
  MemoryChangeLogStore,
  type UndoReport,
  undoTurn,
} from "./changes/change_log.ts";
export { DirectoryChangeLogStore } from "./changes/directory_change_log_store.ts";
export { type FileAccess, PROTECTED_FILES } from "./files/file_rules.ts";
export {
  type IsolatedPermissions,
  isolatedTool,
  type IsolatedToolOptions,
} from "./isolated/isolated_tool.ts";
export {
  findSkills,
  type FoundSkills,
  type Skill,
  type SkillProblem,
  skillTool,
} from "./skills.ts";
export { type TodoItem, todoTool } from "./todo.ts";
export type { ProcessExit } from "./process/running_process.ts";
export { createUnifiedDiff } from "../core/diff/unified_diff.ts";
