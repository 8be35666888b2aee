/**
 * What the tools of one agent share.
 *
 * @module
 */

import { AbortedError, getErrorMessage } from "../../core/errors.ts";
import { type AgentToolResult, errorResult, type ToolContext } from "../../core/tool.ts";
import type { ChangeLog } from "../changes/change_log.ts";
import type { PathLocks } from "../changes/path_locks.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { SeenFiles } from "../changes/seen_files.ts";
import type { PreviewedChanges } from "../changes/previewed_changes.ts";

/** What the tools of one agent share. */
export interface ToolKit {
  /** Every file and every command goes through it. */
  readonly sandbox: Sandbox;
  /** What the model last saw of each file. */
  readonly seenFiles: SeenFiles;
  /** What a person was shown before they approved. */
  readonly previewedChanges: PreviewedChanges;
  /** One writer per file. */
  readonly locks: PathLocks;
  /** Keeps what files were before each change. */
  readonly changeLog?: ChangeLog;
}

/** An `execute` that answers with its failure's words instead of throwing them. */
export function catchAsErrorResult<Args>(
  execute: (args: Args, context: ToolContext) => Promise<AgentToolResult | string>,
): (args: Args, context: ToolContext) => Promise<AgentToolResult | string> {
  return async (args, context) => {
    try {
      if (context.signal.aborted) throw new AbortedError("The call was cancelled");
      return await execute(args, context);
    } catch (error) {
      return errorResult(getErrorMessage(error));
    }
  };
}
