/**
 * Formats file changes as unified diffs for `git apply` and `patch`.
 *
 * @module
 */

import type { FileChange } from "./file_change.ts";
import {
  applyHunks,
  CONTEXT_LINES,
  findHunks,
  type LineHunk,
  type TextDiff,
} from "./line_hunks.ts";

/** Returns the unified diff of a change; empty if the texts are equal. */
export function createUnifiedDiff(change: Omit<FileChange, "diff">): string {
  const { path, before, after } = change;
  if (before === after) return "";
  const from = before === null ? "/dev/null" : quotePath(`a/${path}`);
  const to = after === null ? "/dev/null" : quotePath(`b/${path}`);
  return `--- ${from}\n+++ ${to}\n${listHunks(change).join("")}`;
}

/**
 * Returns the hunks of the unified diff of a change, in order, each from its `@@` line; to show them one by one, and to
 * refuse some of them (`ApprovalDecision.refusedHunks`).
 */
export function listHunks({ before, after }: Pick<FileChange, "before" | "after">): string[] {
  const diff = findHunks(before ?? "", after ?? "");
  return diff.hunks.map((hunk) => formatHunk(hunk, diff));
}

/** Returns a file change with its diff. */
export function createFileChange(change: Omit<FileChange, "diff">): FileChange {
  return { ...change, diff: createUnifiedDiff(change) };
}

/** Counts the lines that the diff of a file adds and removes. */
export function countChangedLines(diff: string): { added: number; removed: number } {
  // Without the two lines of the header; a removed comment of SQL also begins with three hyphens.
  const lines = diff.split("\n").slice(2);
  const count = (prefix: string) => lines.filter((line) => line.startsWith(prefix)).length;
  return { added: count("+"), removed: count("-") };
}

function formatHunk(edits: LineHunk, { before, after, skippedLines }: TextDiff): string {
  const [first, last] = [edits[0], edits.at(-1)];
  if (!first || !last) return "";
  const lead = Math.min(CONTEXT_LINES, first.beforeStart);
  const trail = Math.min(CONTEXT_LINES, before.length - last.beforeEnd);
  const [beforeStart, afterStart] = [first.beforeStart - lead, first.afterStart - lead];
  const beforeRange = formatRange(
    beforeStart + skippedLines,
    last.beforeEnd + trail + skippedLines,
  );
  const afterRange = formatRange(afterStart + skippedLines, last.afterEnd + trail + skippedLines);
  let body = "";
  let next = beforeStart;
  for (const edit of edits) {
    body += prefixLines(" ", before.slice(next, edit.beforeStart));
    body += prefixLines("-", before.slice(edit.beforeStart, edit.beforeEnd));
    body += prefixLines("+", after.slice(edit.afterStart, edit.afterEnd));
    next = edit.beforeEnd;
  }
  body += prefixLines(" ", before.slice(next, last.beforeEnd + trail));
  return `@@ -${beforeRange} +${afterRange} @@\n${body}`;
}

/** Formats a range as `start,count`: `start` counts from 1 and is the preceding line for an empty range. */
function formatRange(start: number, end: number): string {
  const count = end - start;
  return count === 1 ? `${start + 1}` : `${count === 0 ? start : start + 1},${count}`;
}

function prefixLines(prefix: string, lines: readonly string[]): string {
  return lines.map((line) =>
    line.endsWith("\n") ? prefix + line : `${prefix}${line}\n\\ No newline at end of file\n`
  ).join("");
}

/** Quotes a path with quotes, backslashes or control characters as git does. */
function quotePath(path: string): string {
  if (!/["\\\p{Cc}]/u.test(path)) return path;
  return JSON.stringify(path).replace(
    /\\u00([0-9a-f]{2})/g,
    (_, hex: string) => `\\${parseInt(hex, 16).toString(8).padStart(3, "0")}`,
  );
}

/**
 * Returns the text after a change without some of its hunks; `undefined` if the change has no such hunk, as when the
 * file has changed since the hunks were listed.
 */
export function omitHunks(
  change: { readonly before: string; readonly after: string },
  omitted: readonly string[],
): string | undefined {
  const listed = listHunks(change);
  const indices = omitted.map((hunk) => listed.indexOf(hunk));
  if (indices.includes(-1)) return undefined;
  return applyHunks(change, (index) => !indices.includes(index));
}
