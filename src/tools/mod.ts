/**
 * Tools for coding agents, and the sandbox that confines them.
 *
 * {@linkcode codingTools} creates tools that read, write, edit, list and search files and run commands;
 * {@linkcode fetchUrlTool}, {@linkcode skillTool} and {@linkcode isolatedTool} add others. All file access and all
 * commands go through a {@linkcode Sandbox}, and {@linkcode approvalGate} asks the user before a tool changes something.
 * With a {@linkcode ChangeLog} the file changes of a turn can be undone.
 *
 * @example
 * ```ts
 * import { ChangeLog, codingTools, createSandbox } from "@swink/agent/tools";
 *
 * const cwd = await Deno.makeTempDir();
 * await using sandbox = createSandbox({ cwd, net: "off" });
 * const changeLog = new ChangeLog();
 * const tools = codingTools({ sandbox, changeLog }); // new Agent({ tools, … })
 *
 * await changeLog.undoTurn(sandbox.files); // { turn: undefined, … }: no file was changed yet
 * ```
 *
 * @module
 */

export {
  type ApprovalGate,
  approvalGate,
  type ApprovalGateOptions,
  type ApprovalGateState,
  type ApprovalPrompt,
  type GateRequest,
  type TrustGrant,
} from "./approval/approval_gate.ts";
export type {
  AskCause,
  AskedDecision,
  CallExplanation,
  ExplainedRequest,
} from "./approval/call_explanation.ts";
export type { ClassGate } from "./approval/gate_rules.ts";
export { parseRuleSet, type RuleSet } from "./approval/rules/rule_set.ts";
export { readRuleSet } from "./approval/rules/read_rule_set.ts";
export { listHunks } from "../core/diff/unified_diff.ts";
export { assessCommand, type CommandAssessment } from "./approval/command_assessment.ts";
export { planMode } from "./approval/plan_mode.ts";
export { codingTools, type CodingToolsOptions } from "./coding_tools.ts";
export { createSandbox } from "./sandbox/local_sandbox.ts";
export type { SandboxOptions } from "./sandbox/sandbox_options.ts";
export type { SecretFiles } from "./sandbox/find_secret_files.ts";
export type { FinishedCommand, Sandbox, SandboxCommand, SandboxNet } from "./sandbox/sandbox.ts";
export type {
  EnforcedBy,
  SandboxReport,
  SandboxRule,
  SandboxStatus,
} from "./sandbox/sandbox_report.ts";
export type { EntryKind } from "./files/file_stat.ts";
export type { DirectoryEntry, SandboxFiles } from "./sandbox/sandbox_files.ts";
export { type FetchUrlOptions, fetchUrlTool } from "./fetch_url.ts";
export {
  ChangeLog,
  MemoryChangeLogStore,
  type RecordOptions,
  type RedoReport,
  type UndoReport,
} from "./changes/change_log.ts";
export type {
  ChangeEntry,
  ChangeLogEntry,
  ChangeLogStore,
  LoggedChange,
  RedoneEntry,
  UndoneEntry,
  UndoStartEntry,
  UntrackedEntry,
} from "./changes/change_log_entry.ts";
export { DirectoryChangeLogStore } from "./changes/directory_change_log_store.ts";
export { type FileAccess } from "./files/file_rules.ts";
export { PROTECTED_FILES, SECRET_PLACES } from "../platform/secret_places.ts";
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
export type * from "../core/ports/worktree_port.ts";
export { gitWorktrees, type GitWorktreesOptions } from "./worktrees/git_worktrees.ts";
export type { ProcessExit } from "./process/running_process.ts";
