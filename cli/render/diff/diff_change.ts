/**
 * The diff of a change of a file.
 *
 * @module
 */

import type { FileChange } from "../../../mod.ts";
import { createUnifiedDiff } from "../../../src/core/diff/unified_diff.ts";
import type { FileDiff } from "./file_diff.ts";
import { parseDiff } from "./parse_diff.ts";

/** Returns the diff of a change: the one of the tool, else the difference of both texts. */
export function diffChange(change: FileChange): FileDiff {
  const { path, before, after, diff = createUnifiedDiff(change) } = change;
  const [parsed] = parseDiff(diff);
  const kind = before === null ? "created" : after === null ? "deleted" : "changed";
  return { path, kind, notes: parsed?.notes ?? [], hunks: parsed?.hunks ?? [] };
}

/** Counts the lines that a diff adds and removes. */
export function countChanges(
  { hunks }: FileDiff,
): { readonly added: number; readonly removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter(({ type }) => type === "added").length,
    removed: lines.filter(({ type }) => type === "removed").length,
  };
}
