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
  | { readonly type: "left"; readonly path: string; readonly reason: string };

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
    left: outcomes.flatMap((outcome) =>
      outcome.type === "left"
        ? [{ path: files.toDisplayPath(outcome.path), reason: outcome.reason }]
        : []
    ),
  };
}
