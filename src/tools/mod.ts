/**
 * Tools for coding agents, and the sandbox in which they act.
 *
 * @module
 */

export { codingTools, type CodingToolsOptions } from "./coding_tools.ts";
export {
  createSandbox,
  type Sandbox,
  type SandboxCommand,
  type SandboxOptions,
} from "./sandbox.ts";
export type { FolderEntry, OpenedFile, SandboxFiles } from "./sandbox_files.ts";
export { type FileAccess, PROTECTED_FILES } from "./file_rules.ts";
export type { ProcessExit, RunningProcess } from "./running_process.ts";
export { unifiedDiff } from "./unified_diff.ts";
