/**
 * Result of an undo or a redo for a file.
 *
 * @module
 */

import type { SandboxFiles } from "../sandbox/sandbox_files.ts";

/** Maximum file size that is undone; larger than any file that the tools write. */
export const MAX_BYTES = 100_000_000;

/** Result of an undo or a redo for a file. */
export type ChangeOutcome =
  | { readonly type: "restored" | "removed"; readonly path: string }
  | LeftOutcome;

/**
 * A file that was left as it is. `failed`: it may succeed later, such as when a disk is not full any more. `unchanged`: there
 * was nothing to do.
 */
export interface LeftOutcome {
  readonly type: "left" | "failed" | "unchanged";
  readonly path: string;
  readonly reason: string;
}

/** Whether a file was left as it is. */
export function isLeft(outcome: ChangeOutcome): outcome is LeftOutcome {
  return outcome.type !== "restored" && outcome.type !== "removed";
}

/** The files of a report, with paths for display. */
export interface ReportedFiles {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

/** Reports what was done, with paths relative to the working directory if inside of it. */
export function reportOutcomes(
  files: SandboxFiles,
  outcomes: readonly ChangeOutcome[],
): ReportedFiles {
  const listPaths = (type: ChangeOutcome["type"]) =>
    outcomes.flatMap((outcome) => outcome.type === type ? files.toDisplayPath(outcome.path) : []);
  return {
    restored: listPaths("restored"),
    removed: listPaths("removed"),
    left: outcomes.filter(isLeft).map(({ path, reason }) => ({
      path: files.toDisplayPath(path),
      reason,
    })),
  };
}
