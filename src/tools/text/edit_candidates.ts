/**
 * What to tell a model whose edit fits nowhere, or in several places: enough for the next attempt to succeed.
 *
 * @module
 */

import { truncateEnd } from "./output_limit.ts";
import { levenshteinDistance } from "@std/text/levenshtein-distance";
import { getLineNumber, type Passage } from "./passage.ts";

const MAX_CANDIDATES = 5;
const MAX_LINE_CHARACTERS = 200;

/** Lines longer than this are compared by their beginnings. */
const COMPARED_CHARACTERS = 120;

/** Files with more lines are searched only for equal lines, not for similar ones. */
const MAX_COMPARED_LINES = 5_000;

/** The message for a passage that is there several times. */
export function describeMatches(text: string, passages: readonly Passage[]): string {
  const lines = text.split("\n");
  const places = passages.slice(0, MAX_CANDIDATES).map(({ start }) => {
    const line = getLineNumber(text, start);
    return formatLines(lines, Math.max(line - 1, 1), line + 1);
  });
  const more = passages.length > places.length
    ? `\n… and ${passages.length - places.length} more`
    : "";
  return `old_string is there ${passages.length} times; quote more of the lines around it, or set line_hint ` +
    `or replace_all:\n${places.join("\n--\n")}${more}`;
}

/** The message for a passage that is not there. */
export function describeNearMatches(text: string, wanted: string): string {
  const lines = text.split("\n");
  const wantedLines = wanted.replaceAll("\r\n", "\n").split("\n");
  const anchor = wantedLines.findIndex((line) => line.trim() !== "");
  const nearest = findNearestLines(lines, wantedLines[anchor] ?? "");
  if (nearest.length === 0) {
    return "old_string is not in the file, nor anything like its first line: read the file again";
  }
  const places = nearest.map((line) => {
    const first = Math.max(line - anchor, 0);
    return formatLines(
      lines,
      first + 1,
      Math.min(first + Math.min(wantedLines.length, 12), lines.length),
    );
  });
  return `old_string is not in the file exactly so${
    describeMismatch(lines, wantedLines, nearest, anchor)
  }; ` +
    `the nearest lines are:\n${places.join("\n--\n")}`;
}

/** Says so when only the indentation differs, which is easily overlooked. */
function describeMismatch(
  lines: readonly string[],
  wanted: readonly string[],
  nearest: readonly number[],
  anchor: number,
): string {
  const onlyIndentation = nearest.some((line) =>
    wanted.every((text, offset) => lines[line - anchor + offset]?.trim() === text.trim())
  );
  return onlyIndentation ? " (the indentation differs)" : "";
}

/** Indexes of the lines most like a given one. */
function findNearestLines(lines: readonly string[], wanted: string): number[] {
  const target = wanted.trim();
  const equal = findIndexes(lines, (line) => line.trim() === target);
  if (equal.length > 0) return equal.slice(0, 3);
  const containing = findIndexes(lines, (line) => target.length > 3 && line.includes(target));
  if (containing.length > 0) return containing.slice(0, 3);
  if (lines.length > MAX_COMPARED_LINES) return [];
  return lines
    .map((line, index) => ({ index, score: similarity(line.trim(), target) }))
    .filter(({ score }) => score > 0.6)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ index }) => index);
}

function findIndexes(lines: readonly string[], fits: (line: string) => boolean): number[] {
  return lines.flatMap((line, index) => (fits(line) ? [index] : []));
}

/** 1 for equal lines, 0 for lines that have nothing in common. */
function similarity(a: string, b: string): number {
  const [short, long] = [a, b].map((text) => text.slice(0, COMPARED_CHARACTERS));
  const longest = Math.max(short?.length ?? 0, long?.length ?? 0);
  const shortest = Math.min(short?.length ?? 0, long?.length ?? 0);
  if (longest === 0 || shortest / longest < 0.5) return 0;
  return 1 - levenshteinDistance(short ?? "", long ?? "") / longest;
}

function formatLines(lines: readonly string[], first: number, last: number): string {
  return lines.slice(first - 1, last)
    .map((line, index) => `${first + index}\t${truncateEnd(line, MAX_LINE_CHARACTERS)}`)
    .join("\n");
}
