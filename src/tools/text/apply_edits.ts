/**
 * Text edits that each replace a quoted passage.
 *
 * A passage matches exactly, apart from line endings; failing that, as complete lines that differ only in trailing
 * whitespace. Looser matching could replace the wrong passage.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { TimeBudget } from "../budget/time_budget.ts";
import { describeMatches, describeNearMatches } from "./edit_candidates.ts";
import { detectLineEnding, keepLineEndings, normalizeLineEndings } from "./line_endings.ts";
import { LineIndex, type Passage } from "./passage.ts";

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
 * @throws {BadRequestError} When a passage is missing or ambiguous (the message shows candidates), or the time is used up.
 */
export async function applyEdits(
  text: string,
  edits: readonly TextEdit[],
  budget: TimeBudget,
): Promise<string> {
  let current = text;
  for (const [index, edit] of edits.entries()) {
    await budget.pause();
    try {
      current = applyEdit(current, edit, budget);
    } catch (error) {
      if (!(error instanceof BadRequestError) || edits.length === 1) throw error;
      throw new BadRequestError(
        `Edit ${index + 1} of ${edits.length}: ${error.message}\nNone of the edits was applied.`,
      );
    }
  }
  return current;
}

function applyEdit(text: string, edit: TextEdit, budget: TimeBudget): string {
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
  const wanted = normalizeLineEndings(old_string).text;
  const passages = findPassages(normalized.text, wanted, budget);
  const selected = selectPassages(normalized.text, { passages, edit, budget });
  const ending = detectLineEnding(text);
  const parts: string[] = [];
  let copied = 0;
  for (const { start, end } of selected) {
    budget.check();
    const [from, to] = [normalized.toOriginalIndex(start), normalized.toOriginalIndex(end)];
    parts.push(text.slice(copied, from), keepLineEndings(text.slice(from, to), new_string, ending));
    copied = to;
  }
  return parts.join("") + text.slice(copied);
}

interface Selection {
  readonly passages: readonly Passage[];
  readonly edit: TextEdit;
  readonly budget: TimeBudget;
}

function selectPassages(
  text: string,
  { passages, edit, budget }: Selection,
): readonly Passage[] {
  const { old_string, line_hint, replace_all } = edit;
  const [first] = passages;
  if (!first) throw new BadRequestError(describeNearMatches(text, old_string, budget));
  if (passages.length === 1) return passages;
  if (replace_all) return withoutOverlaps(passages);
  const lines = new LineIndex(text);
  const nearest = line_hint === undefined ? undefined : findNearest(lines, passages, line_hint);
  if (nearest) return [nearest];
  throw new BadRequestError(describeMatches(text, passages, lines));
}

function withoutOverlaps(passages: readonly Passage[]): Passage[] {
  let end = 0;
  return passages.filter((passage) => {
    if (passage.start < end) return false;
    end = passage.end;
    return true;
  });
}

/** Returns the passage nearest to a line; `undefined` when two are equally near. */
function findNearest(
  lines: LineIndex,
  passages: readonly Passage[],
  line: number,
): Passage | undefined {
  let nearest: Passage | undefined;
  let minimum = Infinity;
  let isUnique = false;
  for (const passage of passages) {
    const distance = Math.abs(lines.getLineNumber(passage.start) - line);
    if (distance < minimum) [nearest, minimum, isUnique] = [passage, distance, true];
    else if (distance === minimum) isUnique = false;
  }
  return isUnique ? nearest : undefined;
}

/** Number of steps between checks of the time. */
const CHECK_INTERVAL = 4_096;

/** Finds all occurrences, also overlapping ones: any of them could be the passage that the edit names. */
function findPassages(text: string, wanted: string, budget: TimeBudget): Passage[] {
  const exact: Passage[] = [];
  for (let index = text.indexOf(wanted); index !== -1; index = text.indexOf(wanted, index + 1)) {
    exact.push({ start: index, end: index + wanted.length });
    if (exact.length % CHECK_INTERVAL === 0) budget.check();
  }
  return exact.length > 0 ? exact : findLines(text, wanted, budget);
}

/** Finds complete lines that differ from the wanted ones only in trailing whitespace. */
function findLines(text: string, wanted: string, budget: TimeBudget): Passage[] {
  const endsWithNewline = wanted.endsWith("\n");
  const wantedLines = wanted.split("\n").map((line) => line.trimEnd());
  if (endsWithNewline) wantedLines.pop();
  if (wantedLines.every((line) => line === "")) return [];
  const lines = text.split("\n");
  const trimmed = lines.map((line) => line.trimEnd());
  const starts = getLineStarts(lines);
  const passages: Passage[] = [];
  const rarest = findRarestLine(trimmed, wantedLines);
  for (const [index, found] of rarest.lines.entries()) {
    const first = found - rarest.offset;
    if (index % CHECK_INTERVAL === 0) budget.check();
    if (first < 0 || first + wantedLines.length > lines.length) continue;
    if (!wantedLines.every((line, offset) => trimmed[first + offset] === line)) continue;
    const last = first + wantedLines.length - 1;
    const lineEnd = (starts[last] ?? 0) + (lines[last]?.length ?? 0);
    const hasNewline = endsWithNewline && last + 1 < lines.length;
    passages.push({ start: starts[first] ?? 0, end: hasNewline ? lineEnd + 1 : lineEnd });
  }
  return passages;
}

/** Returns the wanted line that occurs least often, and the lines that are equal to it. */
function findRarestLine(
  lines: readonly string[],
  wanted: readonly string[],
): { readonly offset: number; readonly lines: readonly number[] } {
  const found = new Map<string, number[]>(wanted.map((line) => [line, []]));
  for (const [number, line] of lines.entries()) found.get(line)?.push(number);
  let rarest = { offset: 0, lines: found.get(wanted[0] ?? "") ?? [] };
  for (const [offset, line] of wanted.entries()) {
    const equal = found.get(line) ?? [];
    if (equal.length < rarest.lines.length) rarest = { offset, lines: equal };
  }
  return rarest;
}

function getLineStarts(lines: readonly string[]): number[] {
  let offset = 0;
  return lines.map((line) => {
    const start = offset;
    offset += line.length + 1;
    return start;
  });
}
