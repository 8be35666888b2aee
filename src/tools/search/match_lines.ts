/**
 * Finds the lines of a file that match a regular expression.
 *
 * @module
 */

import { detectFileKind, SNIFF_BYTES } from "../text/file_kind.ts";
import { truncateEnd } from "../text/output_limit.ts";
import { getPatternRisk } from "./pattern_risk.ts";

/** A file with matching lines. */
export interface FileMatch {
  /** Canonical path. */
  readonly path: string;
  /** One item per matching line. */
  readonly lines: readonly LineMatch[];
}

/** A matching line with its number and the lines of context that no earlier match includes. */
export interface LineMatch {
  /** One or several lines, as `12: text` and `13- context`. */
  readonly text: string;
}

/** Options for {@linkcode matchLines}. */
export interface MatchOptions {
  /** The expression, neither global nor sticky. */
  readonly expression: RegExp;
  /** Number of context lines before and after each match. */
  readonly context: number;
}

/** Maximum length of a line in a result; longer ones are shortened to the part around the match. */
const MAX_SHOWN_CHARACTERS = 400;

/** Maximum length that is searched of a line; longer lines are minified code or data. */
const MAX_SEARCHED_CHARACTERS = 10_000;

/** Maximum cost of one line, in steps of the regular expression engine. */
const MAX_STEPS = 20_000_000;

const decoder = new TextDecoder();

/** Returns the matching lines; none for a binary file. */
export function matchLines(bytes: Uint8Array, { expression, context }: MatchOptions): LineMatch[] {
  const content = decoder.decode(bytes);
  const { maxCharacters, textFilter } = getSearchLimits(expression);
  if (textFilter && !textFilter.test(content)) return [];
  if (detectFileKind(bytes.subarray(0, SNIFF_BYTES)).type !== "text") return [];
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const matches: LineMatch[] = [];
  let lastShown = -1;
  for (const [index, line] of lines.entries()) {
    const matchIndex = searchLine(line, { expression, maxCharacters });
    if (matchIndex === -1) continue;
    const before = lines.slice(Math.max(index - context, lastShown + 1), index);
    const after = getFollowingLines(lines, index, { context, expression, maxCharacters });
    const hasGap = context > 0 && matches.length > 0 && index - before.length > lastShown + 1;
    const text = [
      ...before.map((contextLine, offset) =>
        formatLine(index - before.length + offset, contextLine, "-")
      ),
      formatLine(index, line, ":", matchIndex),
      ...after.map((contextLine, offset) => formatLine(index + 1 + offset, contextLine, "-")),
    ].join("\n");
    matches.push({ text: hasGap ? `--\n${text}` : text });
    lastShown = index + after.length;
  }
  return matches;
}

interface SearchLimits {
  /** Characters of a line that are searched: fewer for patterns that backtrack. */
  readonly maxCharacters: number;
  /**
   * Matches every text with a matching line, to skip files before they are split into lines. Only for patterns of linear
   * cost without lookaround.
   */
  readonly textFilter: RegExp | undefined;
}

const limitsCache = new WeakMap<RegExp, SearchLimits>();

function getSearchLimits(expression: RegExp): SearchLimits {
  const cached = limitsCache.get(expression);
  if (cached) return cached;
  const { source, flags } = expression;
  const risk = getPatternRisk(source);
  const exponent = risk.type === "power" ? risk.exponent + 1 : 1;
  const isSimple = risk.type === "linear" && !/\(\?<?!/.test(source);
  const limits = {
    maxCharacters: Math.min(MAX_SEARCHED_CHARACTERS, Math.floor(MAX_STEPS ** (1 / exponent))),
    textFilter: isSimple ? new RegExp(source, `${flags}m`) : undefined,
  };
  limitsCache.set(expression, limits);
  return limits;
}

/** Returns the context lines after a match, up to the next matching line. */
function getFollowingLines(
  lines: readonly string[],
  index: number,
  { context, ...search }: MatchOptions & LineSearch,
): string[] {
  const following = lines.slice(index + 1, index + 1 + context);
  const next = following.findIndex((line) => searchLine(line, search) !== -1);
  return next === -1 ? following : following.slice(0, next);
}

interface LineSearch {
  readonly expression: RegExp;
  readonly maxCharacters: number;
}

function searchLine(line: string, { expression, maxCharacters }: LineSearch): number {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return truncateEnd(text, maxCharacters).search(expression);
}

function formatLine(index: number, line: string, separator: ":" | "-", matchIndex = 0): string {
  return `${index + 1}${separator} ${truncateAround(line.replace(/\r$/, ""), matchIndex)}`;
}

function truncateAround(line: string, index: number): string {
  if (line.length <= MAX_SHOWN_CHARACTERS) return line;
  const from = Math.max(index - MAX_SHOWN_CHARACTERS / 4, 0);
  const start = truncateEnd(line, from).length;
  const middle = truncateEnd(line.slice(start), MAX_SHOWN_CHARACTERS);
  return `${start > 0 ? "…" : ""}${middle}${start + middle.length < line.length ? "…" : ""}`;
}
