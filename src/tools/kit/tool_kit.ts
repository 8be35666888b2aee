/**
 * State that the coding tools of one agent share.
 *
 * @module
 */

import { AbortedError, getErrorMessage } from "../../core/errors/errors.ts";
import { type AgentToolResult, errorResult } from "../../core/messages/tool_result.ts";
import type { ToolContext } from "../../core/tools/tool.ts";
import type { ChangeLog } from "../changes/change_log.ts";
import type { CommandChanges } from "../changes/command_changes.ts";
import type { PathLocks } from "../changes/path_locks.ts";
import type { PreviewedChanges } from "../changes/previewed_changes.ts";
import type { SeenFiles } from "../changes/seen_files.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** Shared state of coding tools. */
export interface ToolKit {
  /** Sandbox for all file access and all commands. */
  readonly sandbox: Sandbox;
  /** Content of each file as the model last saw it. */
  readonly seenFiles: SeenFiles;
  /** Changes shown to the user for approval. */
  readonly previewedChanges: PreviewedChanges;
  /** Serializes writes to the same file. */
  readonly locks: PathLocks;
  /** Records every change, so that turns can be undone. */
  readonly changeLog?: ChangeLog;
  /** Records the file changes of commands in the change log. */
  readonly commandChanges?: CommandChanges;
}

/** Wraps `execute` so that an error becomes an error result with its message. */
export function catchAsErrorResult<Args>(
  execute: (args: Args, context: ToolContext) => Promise<AgentToolResult | string>,
): (args: Args, context: ToolContext) => Promise<AgentToolResult | string> {
  return async (args, context) => {
    try {
      if (context.signal.aborted) throw new AbortedError("The tool call was cancelled");
      return await execute(args, context);
    } catch (error) {
      return errorResult(getErrorMessage(error));
    }
  };
}
