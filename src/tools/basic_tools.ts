/**
 * The tools that every coding agent has. Without the optional tools, a program starts sooner.
 *
 * @module
 */

import type { AgentTool } from "../core/tools/tool.ts";
import { PathLocks } from "./changes/path_locks.ts";
import { PreviewedChanges } from "./changes/previewed_changes.ts";
import { SeenFiles } from "./changes/seen_files.ts";
import type { BackgroundJobs } from "./commands/background_jobs.ts";
import { bashTool } from "./commands/bash.ts";
import { editFileTool } from "./file_tools/edit_file.ts";
import { listDirectoryTool } from "./file_tools/list_directory.ts";
import { readFileTool } from "./file_tools/read_file.ts";
import { searchFilesTool } from "./file_tools/search_files.ts";
import { writeFileTool } from "./file_tools/write_file.ts";
import type { ToolKit } from "./kit/tool_kit.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";

/** Creates the state that the tools of a sandbox share. */
export function createToolKit(sandbox: Sandbox): ToolKit {
  return {
    sandbox,
    seenFiles: new SeenFiles(),
    previewedChanges: new PreviewedChanges(),
    locks: new PathLocks(),
  };
}

/** Creates `read_file`, `write_file`, `edit_file`, `list_directory`, `search_files` and `bash`. */
export function createBasicTools(kit: ToolKit, jobs?: BackgroundJobs): AgentTool[] {
  return [
    readFileTool(kit),
    writeFileTool(kit),
    editFileTool(kit),
    listDirectoryTool(kit),
    searchFilesTool(kit),
    bashTool(kit, jobs),
  ];
}
