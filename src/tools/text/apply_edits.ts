/**
 * Text edits that each replace a quoted passage.
 *
 * A passage matches exactly, apart from line endings; failing that, as complete lines that differ only in trailing
 * whitespace. Looser matching could replace the wrong passage.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { describeMatches, describeNearMatches } from "./edit_candidates.ts";
import { getLineNumber, type Passage } from "./passage.ts";

/** One replacement. */
export interface TextEdit {
  /** The passage to replace, as in the text. */
  readonly old_string: string;
  /** The replacement. */
  readonly new_string: string;
  /** Whether to replace every occurrence. Default: `false`. */
  readonly replace_all?: boolean | undefined;
  /** Line number, from 1: of several occurrences, the nearest one is replaced. */
  readonly line_hint?: number | undefined;
}

/**
 * Applies all edits in order, or none.
 *
 * @throws {BadRequestError} When a passage is missing or ambiguous; the message shows candidates.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((current, edit, index) => {
    const prefix = edits.length === 1 ? "" : `Edit ${index + 1} of ${edits.length}: `;
    try {
      return applyEdit(current, edit);
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error;
      const suffix = edits.length === 1 ? "" : "\nNone of the edits was applied.";
      throw new BadRequestError(prefix + error.message + suffix);
    }
  }, text);
}

function applyEdit(text: string, edit: TextEdit): string {
  const { old_string, new_string } = edit;
  if (old_string === "") {
    throw new BadRequestError(
      "old_string is empty: quote the passage to replace, or use write_file to replace the file",
    );
  }
  if (old_string === new_string) {
    throw new BadRequestError("old_string and new_string are identical: the edit changes nothing");
  }
  const normalized = normalizeLineEndings(text);
  const passages = findPassages(normalized.text, normalizeLineEndings(old_string).text);
  const selected = selectPassages(normalized.text, passages, edit);
  const replacement = convertLineEndings(new_string, detectLineEnding(text));
  let result = "";
  let copied = 0;
  for (const { start, end } of selected) {
    result += text.slice(copied, normalized.toOriginalIndex(start)) + replacement;
    copied = normalized.toOriginalIndex(end);
  }
  return result + text.slice(copied);
}

function selectPassages(
  text: string,
  passages: readonly Passage[],
  edit: TextEdit,
): readonly Passage[] {
  if (passages.length === 0) throw new BadRequestError(describeNearMatches(text, edit.old_string));
  if (passages.length === 1 || edit.replace_all) return passages;
  const { line_hint } = edit;
  const nearest = line_hint === undefined ? undefined : findNearest(text, passages, line_hint);
  if (nearest) return [nearest];
  throw new BadRequestError(describeMatches(text, passages));
}

/** Returns the passage nearest to a line; `undefined` when two are equally near. */
function findNearest(
  text: string,
  passages: readonly Passage[],
  line: number,
): Passage | undefined {
  const distances = passages.map(({ start }) => Math.abs(getLineNumber(text, start) - line));
  const minimum = Math.min(...distances);
  const nearest = passages.filter((_, index) => distances[index] === minimum);
  return nearest.length === 1 ? nearest[0] : undefined;
}

function findPassages(text: string, wanted: string): Passage[] {
  const exact: Passage[] = [];
  for (
    let index = text.indexOf(wanted);
    index !== -1;
    index = text.indexOf(wanted, index + wanted.length)
  ) {
    exact.push({ start: index, end: index + wanted.length });
  }
  return exact.length > 0 ? exact : findLines(text, wanted);
}

/** Finds complete lines that differ from the wanted ones only in trailing whitespace. */
function findLines(text: string, wanted: string): Passage[] {
  const endsWithNewline = wanted.endsWith("\n");
  const wantedLines = wanted.split("\n").map((line) => line.trimEnd());
  if (endsWithNewline) wantedLines.pop();
  if (wantedLines.every((line) => line === "")) return [];
  const lines = text.split("\n");
  const starts = getLineStarts(lines);
  const passages: Passage[] = [];
  for (let first = 0; first + wantedLines.length <= lines.length; first++) {
    if (!wantedLines.every((line, offset) => lines[first + offset]?.trimEnd() === line)) continue;
    const last = first + wantedLines.length - 1;
    const lineEnd = (starts[last] ?? 0) + (lines[last]?.length ?? 0);
    const hasNewline = endsWithNewline && last + 1 < lines.length;
    passages.push({ start: starts[first] ?? 0, end: hasNewline ? lineEnd + 1 : lineEnd });
    first = last;
  }
  return passages;
}

function getLineStarts(lines: readonly string[]): number[] {
  let offset = 0;
  return lines.map((line) => {
    const start = offset;
    offset += line.length + 1;
    return start;
  });
}

interface NormalizedText {
  /** The text with `\n` at the end of every line. */
  readonly text: string;
  /** Maps an index in the normalized text to one in the original. */
  readonly toOriginalIndex: (index: number) => number;
}

/** Replaces `\r\n` by `\n`. */
function normalizeLineEndings(text: string): NormalizedText {
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
function countBelow(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the line ending of most lines. */
function detectLineEnding(text: string): "\n" | "\r\n" {
  if (!text.includes("\r\n")) return "\n";
  const crlfs = text.split("\r\n").length - 1;
  const newlines = text.split("\n").length - 1;
  return crlfs * 2 > newlines ? "\r\n" : "\n";
}

function convertLineEndings(text: string, ending: "\n" | "\r\n"): string {
  const normalized = text.replaceAll("\r\n", "\n");
  return ending === "\n" ? normalized : normalized.replaceAll("\n", ending);
}
