/**
 * The tools of a coding agent.
 *
 * @module
 */

import type { AgentTool } from "../core/tool.ts";
import { BackgroundJobs } from "./commands/background_jobs.ts";
import { bashTool } from "./commands/bash.ts";
import { editFileTool } from "./file_tools/edit_file.ts";
import { type FetchUrlOptions, fetchUrlTool } from "./fetch_url.ts";
import type { ChangeLog } from "./changes/change_log.ts";
import { jobTools } from "./commands/job_tools.ts";
import { listDirectoryTool } from "./file_tools/list_directory.ts";
import { PathLocks } from "./changes/path_locks.ts";
import { readFileTool } from "./file_tools/read_file.ts";
import { createSandbox, type SandboxOptions } from "./sandbox/local_sandbox.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { searchFilesTool } from "./file_tools/search_files.ts";
import { SeenFiles } from "./changes/seen_files.ts";
import { PreviewedChanges } from "./changes/previewed_changes.ts";
import { todoTool } from "./todo.ts";
import type { ToolKit } from "./kit/tool_kit.ts";
import { writeFileTool } from "./file_tools/write_file.ts";

/** What {@linkcode codingTools} is told. */
export interface CodingToolsOptions {
  /** The working directory. Default: the current one. */
  readonly cwd?: string;
  /** Where the tools act: a sandbox, or options for one. Default: one over the working directory. */
  readonly sandbox?: Sandbox | SandboxOptions;
  /** Whether `bash` can start commands that go on running, with `job_output` and `job_stop`. Default: `false`. */
  readonly jobs?: boolean;
  /** Whether there is `todo`, the agent's own list of steps. Default: `false`. */
  readonly todo?: boolean;
  /** Whether there is `fetch_url`, and what it may fetch. Default: `false`. */
  readonly fetchUrl?: boolean | FetchUrlOptions;
  /** Keeps what files were before each change, so that turns can be undone. Default: nothing is kept. */
  readonly changeLog?: ChangeLog;
}

/**
 * Makes `read_file`, `write_file`, `edit_file`, `list_directory`, `search_files` and `bash`, which share one sandbox;
 * and, where asked for, `job_output`, `job_stop`, `fetch_url` and `todo`.
 *
 * @throws {BadRequestError} When the working directory is not a folder.
 *
 * @example
 * ```ts
 * import { codingTools } from "@swink/agent/tools";
 *
 * const tools = codingTools({ cwd: Deno.cwd() });
 * tools.map((tool) => tool.name); // ["read_file", "write_file", "edit_file", …]
 * ```
 */
export function codingTools(options: CodingToolsOptions = {}): AgentTool[] {
  const kit: ToolKit = {
    sandbox: resolveSandbox(options),
    seenFiles: new SeenFiles(),
    previewedChanges: new PreviewedChanges(),
    locks: new PathLocks(),
    ...(options.changeLog && { changeLog: options.changeLog }),
  };
  const jobs = options.jobs ? new BackgroundJobs(kit.sandbox) : undefined;
  const { fetchUrl = false } = options;
  return [
    readFileTool(kit),
    writeFileTool(kit),
    editFileTool(kit),
    listDirectoryTool(kit),
    searchFilesTool(kit),
    bashTool(kit, jobs),
    ...(jobs ? jobTools(jobs) : []),
    ...(fetchUrl ? [fetchUrlTool(fetchUrl === true ? {} : fetchUrl)] : []),
    ...(options.todo ? [todoTool()] : []),
  ];
}

function resolveSandbox({ cwd, sandbox = {} }: CodingToolsOptions): Sandbox {
  if ("startCommand" in sandbox) return sandbox;
  return createSandbox({ ...(cwd !== undefined && { cwd }), ...sandbox });
}
