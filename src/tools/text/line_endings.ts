/**
 * Line endings: texts are compared with `\n`, and each line of a file keeps its own ending.
 *
 * @module
 */

import { diffLines } from "../../core/diff/line_diff.ts";

/** End of a line. */
export type LineEnding = "\n" | "\r\n";

/** A text with `\n` at the end of every line. */
export interface NormalizedText {
  /** The text. */
  readonly text: string;
  /** Maps an index in the normalized text to one in the original. */
  readonly toOriginalIndex: (index: number) => number;
}

/** Replaces `\r\n` by `\n`. */
export function normalizeLineEndings(text: string): NormalizedText {
  if (!text.includes("\r\n")) return { text, toOriginalIndex: (index) => index };
  const removedBefore: number[] = [];
  for (let index = text.indexOf("\r\n"); index !== -1; index = text.indexOf("\r\n", index + 2)) {
    removedBefore.push(index - removedBefore.length);
  }
  return {
    text: text.replaceAll("\r\n", "\n"),
    toOriginalIndex: (index) => index + countBelow(removedBefore, index),
  };
}

/** Counts the numbers below a value by binary search. */
export function countBelow(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the line ending of most lines. */
export function detectLineEnding(text: string): LineEnding {
  if (!text.includes("\r\n")) return "\n";
  const crlfs = text.split("\r\n").length - 1;
  const newlines = text.split("\n").length - 1;
  return crlfs * 2 > newlines ? "\r\n" : "\n";
}

/**
 * Gives a replacement the line endings of the text that it replaces: equal lines keep theirs, a changed line gets that of
 * its predecessor at the same place, an added line that of the line before it.
 *
 * @param fallback Ending of lines without a model.
 */
export function keepLineEndings(
  original: string,
  replacement: string,
  fallback: LineEnding,
): string {
  const after = replacement.replaceAll("\r\n", "\n").split("\n");
  if (!original.includes("\r\n") && fallback === "\n") return after.join("\n");
  const before = splitLines(original);
  const endings = alignEndings(before, after);
  let previous = fallback;
  return after.map((line, index) => {
    if (index === after.length - 1) return line;
    previous = endings[index] ?? previous;
    return line + previous;
  }).join("");
}

interface Line {
  readonly text: string;
  /** `undefined` for the last line. */
  readonly ending: LineEnding | undefined;
}

function splitLines(text: string): Line[] {
  const lines = text.split("\n");
  return lines.map((line, index) => {
    if (index === lines.length - 1) return { text: line, ending: undefined };
    return line.endsWith("\r")
      ? { text: line.slice(0, -1), ending: "\r\n" }
      : { text: line, ending: "\n" };
  });
}

/** Returns the ending of the corresponding original line for each line; `undefined` for an added line. */
function alignEndings(
  before: readonly Line[],
  after: readonly string[],
): (LineEnding | undefined)[] {
  const endings: (LineEnding | undefined)[] = [];
  let index = 0;
  for (const edit of diffLines(before.map(({ text }) => text), after)) {
    for (; index < edit.beforeStart; index++) endings.push(before[index]?.ending);
    for (let added = edit.afterStart; added < edit.afterEnd; added++) {
      const replaced = edit.beforeStart + added - edit.afterStart;
      endings.push(replaced < edit.beforeEnd ? before[replaced]?.ending : undefined);
    }
    index = edit.beforeEnd;
  }
  for (; index < before.length; index++) endings.push(before[index]?.ending);
  return endings;
}
