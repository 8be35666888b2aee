/**
 * Formats file changes as unified diffs for `git apply` and `patch`.
 *
 * @module
 */

import type { FileChange } from "./file_change.ts";
import { diffLines, type LineEdit } from "./line_diff.ts";

/** Unchanged lines before and after each change. */
const CONTEXT_LINES = 3;

/** Returns the unified diff of a change; empty if the texts are equal. */
export function createUnifiedDiff(change: Omit<FileChange, "diff">): string {
  const { path, before, after } = change;
  if (before === after) return "";
  const from = before === null ? "/dev/null" : quotePath(`a/${path}`);
  const to = after === null ? "/dev/null" : quotePath(`b/${path}`);
  const skipped = measureEqualStart(before ?? "", after ?? "");
  const [textBefore, textAfter] = trimEqualEnd(
    (before ?? "").slice(skipped.characters),
    (after ?? "").slice(skipped.characters),
  );
  const texts = {
    before: splitLines(textBefore),
    after: splitLines(textAfter),
    skippedLines: skipped.lines,
  };
  const hunks = groupEdits(diffLines(texts.before, texts.after)).map((edits) =>
    formatHunk(edits, texts)
  );
  return `--- ${from}\n+++ ${to}\n${hunks.join("")}`;
}

/** Characters per comparison; comparing equal texts block by block is faster than line by line. */
const BLOCK_LENGTH = 4_096;

/** Measures the equal lines at the start of both texts, without the last ones that serve as context. */
function measureEqualStart(before: string, after: string): { characters: number; lines: number } {
  let equal = 0;
  while (
    equal < before.length && after.startsWith(before.slice(equal, equal + BLOCK_LENGTH), equal)
  ) {
    equal += BLOCK_LENGTH;
  }
  let characters = Math.min(equal, before.length, after.length);
  for (let kept = 0; kept <= CONTEXT_LINES && characters > 0; kept++) {
    characters = before.lastIndexOf("\n", characters - 2) + 1;
  }
  let lines = 0;
  for (
    let newline = before.indexOf("\n");
    newline !== -1 && newline < characters;
    newline = before.indexOf("\n", newline + 1)
  ) {
    lines++;
  }
  return { characters, lines };
}

/** Removes the equal lines at the end of both texts, except the first ones that serve as context. */
function trimEqualEnd(before: string, after: string): readonly [string, string] {
  let equal = 0;
  const maxEqual = Math.min(before.length, after.length);
  while (
    equal + BLOCK_LENGTH <= maxEqual &&
    before.slice(-equal - BLOCK_LENGTH, before.length - equal) ===
      after.slice(-equal - BLOCK_LENGTH, after.length - equal)
  ) {
    equal += BLOCK_LENGTH;
  }
  if (equal === 0) return [before, after];
  // The equal part may start in the middle of a line that differs before it.
  let end = before.indexOf("\n", before.length - equal) + 1;
  for (let kept = 0; kept < CONTEXT_LINES && end > 0; kept++) end = before.indexOf("\n", end) + 1;
  if (end === 0) return [before, after];
  return [before.slice(0, end), after.slice(0, after.length - (before.length - end))];
}

/** Returns a file change with its diff. */
export function createFileChange(change: Omit<FileChange, "diff">): FileChange {
  return { ...change, diff: createUnifiedDiff(change) };
}

/** Counts the lines that a diff adds and removes. */
export function countChangedLines(diff: string): { added: number; removed: number } {
  const count = (pattern: RegExp) => diff.match(pattern)?.length ?? 0;
  return { added: count(/^\+(?!\+\+ )/gm), removed: count(/^-(?!-- )/gm) };
}

interface DiffTexts {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Number of equal lines before these texts. */
  readonly skippedLines: number;
}

/** Splits a text into lines including their newlines, so that a missing last newline is a difference. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Groups edits into hunks: edits whose contexts touch or overlap share one. */
function groupEdits(edits: readonly LineEdit[]): LineEdit[][] {
  const groups: LineEdit[][] = [];
  let lastEnd = -Infinity;
  for (const edit of edits) {
    const isNear = edit.beforeStart - lastEnd <= 2 * CONTEXT_LINES;
    if (isNear) groups.at(-1)?.push(edit);
    else groups.push([edit]);
    lastEnd = edit.beforeEnd;
  }
  return groups;
}

function formatHunk(
  edits: readonly LineEdit[],
  { before, after, skippedLines }: DiffTexts,
): string {
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
