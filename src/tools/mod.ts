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
export { type FileAccess, PROTECTED_FILES } from "./file_rules.ts";
export type { ProcessExit, RunningProcess } from "./running_process.ts";
export { unifiedDiff } from "./unified_diff.ts";
export { type IgnoreRules, isIgnored, parseIgnoreFile } from "./git_ignore.ts";
