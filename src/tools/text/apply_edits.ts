/**
 * Edits of a text: each replaces a passage that it quotes.
 *
 * A passage is found exactly, whatever the line endings; failing that, as whole lines that differ only in blanks at
 * their ends. Anything looser would sometimes change what was not meant.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { describeMatches, describeNearMatches } from "./edit_candidates.ts";
import { getLineNumber, type Passage } from "./passage.ts";

/** One replacement. */
export interface TextEdit {
  /** The passage as it stands in the text. */
  readonly old_string: string;
  /** What takes its place. */
  readonly new_string: string;
  /** Whether every occurrence is replaced. Default: `false`. */
  readonly replace_all?: boolean | undefined;
  /** A line number that decides between several occurrences: the nearest is meant. */
  readonly line_hint?: number | undefined;
}

/**
 * Applies edits in order, all of them or none.
 *
 * @throws {BadRequestError} When a passage is not there, or there several times; the message shows where.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits.reduce((current, edit, index) => {
    const which = edits.length === 1 ? "" : `Edit ${index + 1} of ${edits.length}: `;
    try {
      return applyEdit(current, edit);
    } catch (error) {
      if (!(error instanceof BadRequestError)) throw error;
      const none = edits.length === 1 ? "" : "\nNone of the edits was made.";
      throw new BadRequestError(which + error.message + none);
    }
  }, text);
}

function applyEdit(text: string, edit: TextEdit): string {
  const { old_string, new_string } = edit;
  if (old_string === "") {
    throw new BadRequestError(
      "old_string is empty: quote the passage to replace, or use write_file for a whole file",
    );
  }
  if (old_string === new_string) {
    throw new BadRequestError("old_string and new_string are the same: there is nothing to change");
  }
  const plain = normalizeLineEndings(text);
  const passages = findPassages(plain.text, normalizeLineEndings(old_string).text);
  const chosen = selectPassages(plain.text, passages, edit);
  const replacement = convertLineEndings(new_string, detectLineEnding(text));
  let result = "";
  let at = 0;
  for (const { start, end } of chosen) {
    result += text.slice(at, plain.toOriginalIndex(start)) + replacement;
    at = plain.toOriginalIndex(end);
  }
  return result + text.slice(at);
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

/** The passage nearest to a line; `undefined` when two are equally near. */
function findNearest(
  text: string,
  passages: readonly Passage[],
  line: number,
): Passage | undefined {
  const distances = passages.map(({ start }) => Math.abs(getLineNumber(text, start) - line));
  const least = Math.min(...distances);
  const nearest = passages.filter((_, index) => distances[index] === least);
  return nearest.length === 1 ? nearest[0] : undefined;
}

function findPassages(text: string, wanted: string): Passage[] {
  const exact: Passage[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    exact.push({ start: at, end: at + wanted.length });
  }
  return exact.length > 0 ? exact : findLines(text, wanted);
}

/** Whole lines that are the wanted ones but for blanks at their ends. */
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
  let at = 0;
  return lines.map((line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
}

interface NormalizedText {
  /** The text with `\n` at the end of every line. */
  readonly text: string;
  /** Where a character of the plain text stands in the original. */
  readonly toOriginalIndex: (index: number) => number;
}

/** Takes the return out of every `\r\n`, so that passages compare whatever the line endings are. */
function normalizeLineEndings(text: string): NormalizedText {
  if (!text.includes("\r\n")) return { text, toOriginalIndex: (index) => index };
  const removedBefore: number[] = [];
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) {
    removedBefore.push(at - removedBefore.length);
  }
  return {
    text: text.replaceAll("\r\n", "\n"),
    toOriginalIndex: (index) => index + countBelow(removedBefore, index),
  };
}

/** How many of some ascending numbers are less than a value. */
function countBelow(ascending: readonly number[], value: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The line ending that most lines of a text have. */
function detectLineEnding(text: string): "\n" | "\r\n" {
  if (!text.includes("\r\n")) return "\n";
  const returns = text.split("\r\n").length - 1;
  const newlines = text.split("\n").length - 1;
  return returns * 2 > newlines ? "\r\n" : "\n";
}

function convertLineEndings(text: string, ending: "\n" | "\r\n"): string {
  const plain = text.replaceAll("\r\n", "\n");
  return ending === "\n" ? plain : plain.replaceAll("\n", ending);
}
