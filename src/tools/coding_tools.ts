/**
 * The tools of a coding agent.
 *
 * @module
 */

import type { AgentTool } from "../core/tool.ts";
import { bashTool } from "./bash.ts";
import { editFileTool } from "./edit_file.ts";
import { listDirectoryTool } from "./list_directory.ts";
import { PathLocks } from "./path_locks.ts";
import { readFileTool } from "./read_file.ts";
import { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox.ts";
import { searchFilesTool } from "./search_files.ts";
import { SeenFiles } from "./seen_files.ts";
import type { ToolKit } from "./tool_kit.ts";
import { writeFileTool } from "./write_file.ts";

/** What {@linkcode codingTools} is told. */
export interface CodingToolsOptions {
  /** The working directory. Default: the current one. */
  readonly cwd?: string;
  /** Where the tools act: a sandbox, or options for one. Default: one over the working directory. */
  readonly sandbox?: Sandbox | SandboxOptions;
}

/**
 * Makes `read_file`, `write_file`, `edit_file`, `list_directory`, `search_files` and `bash`, which share one sandbox.
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
    sandbox: sandboxOf(options),
    seen: new SeenFiles(),
    locks: new PathLocks(),
  };
  return [
    readFileTool(kit),
    writeFileTool(kit),
    editFileTool(kit),
    listDirectoryTool(kit),
    searchFilesTool(kit),
    bashTool(kit),
  ];
}

function sandboxOf({ cwd, sandbox = {} }: CodingToolsOptions): Sandbox {
  if ("startCommand" in sandbox) return sandbox;
  return createSandbox({ ...(cwd !== undefined && { cwd }), ...sandbox });
}
