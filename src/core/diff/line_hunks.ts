/**
 * The hunks of a change: groups of line edits that share their context in a unified diff.
 *
 * @module
 */

import { diffLines, type LineEdit } from "./line_diff.ts";

/** Unchanged lines before and after each change. */
export const CONTEXT_LINES = 3;

/** The line edits of one hunk, in order. */
export type LineHunk = readonly LineEdit[];

/** The difference of two texts; the lines of the edits count within `before` and `after`. */
export interface TextDiff {
  /** The lines that are compared of the text before, each with its newline. */
  readonly before: readonly string[];
  /** The lines that are compared of the text after, each with its newline. */
  readonly after: readonly string[];
  /** Number of equal lines before these. */
  readonly skippedLines: number;
  /** Number of equal UTF-16 code units before these. */
  readonly skippedCharacters: number;
  /** The hunks, in order. */
  readonly hunks: readonly LineHunk[];
}

/** Finds the hunks between two texts. */
export function findHunks(before: string, after: string): TextDiff {
  const skipped = measureEqualStart(before, after);
  const [comparedBefore, comparedAfter] = trimEqualEnd(
    before.slice(skipped.characters),
    after.slice(skipped.characters),
  );
  const lines = { before: splitLines(comparedBefore), after: splitLines(comparedAfter) };
  return {
    ...lines,
    skippedLines: skipped.lines,
    skippedCharacters: skipped.characters,
    hunks: groupEdits(diffLines(lines.before, lines.after)),
  };
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
    // A negative index would find a newline at index 0, and keep an empty first line out of the context.
    characters = characters < 2 ? 0 : before.lastIndexOf("\n", characters - 2) + 1;
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

/** Splits a text into lines including their newlines, so that a missing last newline is a difference. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Groups edits into hunks: edits whose contexts touch or overlap share one. */
function groupEdits(edits: readonly LineEdit[]): LineHunk[] {
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

/** Returns the first text with the hunks that are selected by their index. */
export function applyHunks(
  { before, after }: { readonly before: string; readonly after: string },
  isSelected: (index: number) => boolean,
): string {
  const diff = findHunks(before, after);
  let lines = "";
  let next = 0;
  const edits = diff.hunks.filter((_, index) => isSelected(index)).flat();
  for (const { beforeStart, beforeEnd, afterStart, afterEnd } of edits) {
    lines += diff.before.slice(next, beforeStart).join("") +
      diff.after.slice(afterStart, afterEnd).join("");
    next = beforeEnd;
  }
  lines += diff.before.slice(next).join("");
  const comparedLength = diff.before.reduce((sum, line) => sum + line.length, 0);
  return before.slice(0, diff.skippedCharacters) + lines +
    before.slice(diff.skippedCharacters + comparedLength);
}
