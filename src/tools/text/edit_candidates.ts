/**
 * Error messages for edits whose passage is missing or ambiguous, with candidates for the next attempt.
 *
 * @module
 */

import { levenshteinDistance } from "@std/text/levenshtein-distance";
import { truncateEnd } from "../../core/text/output_limit.ts";
import type { TimeBudget } from "../budget/time_budget.ts";
import { LineIndex, type Passage } from "./passage.ts";

const MAX_CANDIDATES = 5;
const MAX_LINE_CHARACTERS = 200;

/** Maximum length of a text that is normalized to find a passage. */
const MAX_NORMALIZED_CHARACTERS = 2_000_000;

/** Maximum number of lines after the first one in the excerpt of a passage. */
const MAX_EXCERPT_LINES = 11;

/** Maximum number of characters that are compared of a line. */
const COMPARED_CHARACTERS = 120;

/** Maximum number of lines in a file that is searched for similar lines, and not only for equal ones. */
const MAX_COMPARED_LINES = 5_000;

/** Returns the message for a passage that occurs several times. */
export function describeMatches(
  text: string,
  passages: readonly Passage[],
  index: LineIndex,
): string {
  const lines = text.split("\n");
  const excerpts = passages.slice(0, MAX_CANDIDATES).map(({ start }) => {
    const line = index.getLineNumber(start);
    return formatLines(lines, Math.max(line - 1, 1), line + 1);
  });
  const omitted = passages.length > excerpts.length
    ? `\n… and ${passages.length - excerpts.length} more`
    : "";
  return `old_string occurs ${passages.length} times: quote more of the lines around it, or set line_hint ` +
    `or replace_all:\n${excerpts.join("\n--\n")}${omitted}`;
}

/** Returns the message for a passage that does not occur. */
export function describeNearMatches(text: string, wanted: string, budget: TimeBudget): string {
  const normalized = wanted.replaceAll("\r\n", "\n");
  const difference = findDifference(text, normalized);
  if (difference !== undefined) return difference;
  const lines = text.split("\n");
  const wantedLines = normalized.split("\n");
  const anchor = wantedLines.findIndex((line) => line.trim() !== "");
  const nearest = findNearestLines(lines, wantedLines[anchor] ?? "", budget);
  if (nearest.length === 0) {
    return "old_string was not found in the file, and nothing similar to its first line: read the file again";
  }
  const excerpts = nearest.map((line) => {
    const first = Math.max(line - anchor, 0);
    return formatLines(
      lines,
      first + 1,
      Math.min(first + Math.min(wantedLines.length, 12), lines.length),
    );
  });
  const reason = nearest.some((line) => differsInIndentation(lines, wantedLines, line - anchor))
    ? " (the indentation differs)"
    : "";
  return `old_string was not found in the file${reason}. Nearest lines:\n${
    excerpts.join("\n--\n")
  }`;
}

/** A change that models often make to a passage when they quote it. */
interface QuotingError {
  /** The error, as the subject's predicate. */
  readonly reason: string;
  /** Returns the text without what the error may have changed. */
  readonly normalize: (text: string) => string;
  /** Whether the file is normalized as well as the passage. */
  readonly inFile: boolean;
}

const QUOTING_ERRORS: readonly QuotingError[] = [
  {
    reason: "has line numbers, which are not part of the file",
    normalize: (text) => text.replace(/^[ \t]*\d+(?:\t|[ \t]*[|:→][ \t]?)/gm, ""),
    inFile: false,
  },
  {
    reason: 'has escapes such as \\n, \\t or \\" where the file has the characters themselves',
    normalize: (text) => text.replace(/\\([nrt"'\\])/g, (_, name: string) => ESCAPES[name] ?? name),
    inFile: false,
  },
  {
    reason: "has HTML entities where the file has the characters themselves",
    normalize: (text) => text.replace(/&(lt|gt|amp|quot|#39);/g, (_, name) => ENTITIES[name] ?? ""),
    inFile: false,
  },
  {
    reason: "has other quotation marks, dashes, spaces or accents than the file",
    normalize: (text) =>
      text.normalize("NFKC").replace(/[‘’‚′]/g, "'").replace(/[“”„″]/g, '"')
        .replace(/[‐-―−]/g, "-").replace(/[^\S\n\t]/g, " "),
    inFile: true,
  },
  {
    reason: "has upper-case or lower-case letters that differ from the file",
    normalize: (text) => text.toLowerCase(),
    inFile: true,
  },
];

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  "#39": "'",
};

/** Returns a message that names how the passage differs from the file; `undefined` if it differs in another way. */
function findDifference(text: string, wanted: string): string | undefined {
  for (const { reason, normalize, inFile } of QUOTING_ERRORS) {
    if (inFile && text.length > MAX_NORMALIZED_CHARACTERS) continue;
    const passage = normalize(wanted);
    if (passage === wanted && !inFile) continue;
    const content = inFile ? normalize(text) : text;
    const index = passage.trim() === "" ? -1 : content.indexOf(passage);
    if (index === -1) continue;
    const first = new LineIndex(content).getLineNumber(index);
    const last = first + passage.split("\n").length - 1;
    const excerpt = formatLines(text.split("\n"), first, Math.min(last, first + MAX_EXCERPT_LINES));
    return `old_string was not found in the file: it ${reason}. The passage in the file:\n${excerpt}`;
  }
  return undefined;
}

/** Whether the lines from `first` differ from the wanted ones only in leading and trailing whitespace. */
function differsInIndentation(
  lines: readonly string[],
  wanted: readonly string[],
  first: number,
): boolean {
  return wanted.every((text, offset) => lines[first + offset]?.trim() === text.trim());
}

/** Returns the indexes of up to three lines most similar to a given one. */
function findNearestLines(
  lines: readonly string[],
  wanted: string,
  budget: TimeBudget,
): number[] {
  const target = wanted.trim();
  const equal = findIndexes(lines, (line) => line.trim() === target);
  if (equal.length > 0) return equal.slice(0, 3);
  const containing = findIndexes(lines, (line) => target.length > 3 && line.includes(target));
  if (containing.length > 0) return containing.slice(0, 3);
  if (lines.length > MAX_COMPARED_LINES) return [];
  return lines
    .map((line, index) => {
      budget.check();
      return { index, score: similarity(line.trim(), target) };
    })
    .filter(({ score }) => score > 0.6)
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ index }) => index);
}

function findIndexes(lines: readonly string[], matches: (line: string) => boolean): number[] {
  return lines.flatMap((line, index) => (matches(line) ? [index] : []));
}

/** Returns the similarity of two lines, from 0 to 1 for equal ones. */
function similarity(a: string, b: string): number {
  const [left, right] = [a.slice(0, COMPARED_CHARACTERS), b.slice(0, COMPARED_CHARACTERS)];
  const longest = Math.max(left.length, right.length);
  const shortest = Math.min(left.length, right.length);
  if (longest === 0 || shortest / longest < 0.5) return 0;
  return 1 - levenshteinDistance(left, right) / longest;
}

function formatLines(lines: readonly string[], first: number, last: number): string {
  return lines.slice(first - 1, last)
    .map((line, index) => `${first + index}\t${truncateEnd(line, MAX_LINE_CHARACTERS)}`)
    .join("\n");
}
