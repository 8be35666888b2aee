/**
 * The lines of hunks with their numbers, and the pairs of removed and added lines.
 *
 * @module
 */

import type { TextRange } from "../line/split_spans.ts";
import type { DiffHunk, DiffLine } from "./file_diff.ts";

/** A line of a hunk with its number. */
export interface NumberedLine extends DiffLine {
  /** Number of the line in the file before the change for removed lines, else after it. */
  readonly number: number;
  /** The part that differs from the line that it replaces or that replaces it, if the lines are similar. */
  readonly changed?: TextRange;
  /** Remark about the line, such as a missing line break. */
  readonly remark?: string;
}

/** The lines that are next to each other: the same line, or a removed line and the one that replaces it. */
export interface LinePair {
  readonly before?: NumberedLine;
  readonly after?: NumberedLine;
}

/** Longest line whose changed part is looked for. */
const MAX_COMPARED = 1_000;

/** Part of a line that must be equal for the rest to count as changed. */
const MIN_SIMILARITY = 0.3;

/** Pairs the lines of a hunk: the first removed line with the first added one behind it, and so on. */
export function pairLines(hunk: DiffHunk): LinePair[] {
  const pairs: LinePair[] = [];
  let removed: NumberedLine[] = [];
  let added: NumberedLine[] = [];
  let [before, after] = [hunk.beforeStart, hunk.afterStart];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      pairs.push(comparePair(removed[index], added[index]));
    }
    removed = [];
    added = [];
  };
  for (const line of hunk.lines) {
    switch (line.type) {
      case "removed":
        if (added.length > 0) flush();
        removed.push({ ...line, number: before++ });
        break;
      case "added":
        added.push({ ...line, number: after++ });
        break;
      case "context": {
        flush();
        const numbered = { ...line, number: after++ };
        pairs.push({
          before: removeReturn({ ...line, number: before++ }),
          after: removeReturn(numbered),
        });
        break;
      }
      case "note":
        if (added.length + removed.length > 0) addNote(line, added.length > 0 ? added : removed);
    }
  }
  flush();
  return pairs;
}

/** Adds a remark to the line before it. */
function addNote({ text }: DiffLine, lines: NumberedLine[]): void {
  const last = lines.at(-1);
  if (last) lines[lines.length - 1] = { ...last, remark: text.toLowerCase() };
}

function comparePair(left: NumberedLine | undefined, right: NumberedLine | undefined): LinePair {
  const before = left && removeReturn(left);
  const after = right && removeReturn(right);
  if (!before || !after) return { ...(before && { before }), ...(after && { after }) };
  // Only the line breaks differ, so that they are shown.
  if (before.text === after.text) {
    return { ...(left && { before: left }), ...(right && { after: right }) };
  }
  const ranges = findChange(before.text, after.text);
  if (!ranges) return { before, after };
  return {
    before: { ...before, changed: ranges.before },
    after: { ...after, changed: ranges.after },
  };
}

/** Removes the carriage return of a line that ends with both characters. */
function removeReturn(line: NumberedLine): NumberedLine {
  return line.text.endsWith("\r") ? { ...line, text: line.text.slice(0, -1) } : line;
}

/** Finds the parts of two lines between their equal beginnings and ends, at the boundaries of words. */
function findChange(
  before: string,
  after: string,
): { readonly before: TextRange; readonly after: TextRange } | undefined {
  const shorter = Math.min(before.length, after.length);
  if (before === after || Math.max(before.length, after.length) > MAX_COMPARED) return undefined;
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  while (start > 0 && (isWordAt(before, start) || isWordAt(after, start))) start--;
  while (
    end > 0 && (isWordAt(before, before.length - end) || isWordAt(after, after.length - end))
  ) {
    end--;
  }
  const equal = before.slice(0, start).trim().length +
    before.slice(before.length - end).trim().length;
  if (equal < MIN_SIMILARITY * Math.max(before.trim().length, after.trim().length)) {
    return undefined;
  }
  return {
    before: { start, end: before.length - end },
    after: { start, end: after.length - end },
  };
}

/** Whether a word continues across an offset. */
function isWordAt(text: string, offset: number): boolean {
  return /[\p{L}\p{N}_\p{M}\u200d\ufe0f]|[\ud800-\udfff]/u.test(text[offset - 1] ?? " ") &&
    /[\p{L}\p{N}_\p{M}\u200d\ufe0f]|[\ud800-\udfff]/u.test(text[offset] ?? " ");
}
