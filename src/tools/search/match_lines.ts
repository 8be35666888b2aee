/**
 * The lines of a file that fit a regular expression.
 *
 * @module
 */

import { detectFileKind, SNIFF_BYTES } from "../text/file_kind.ts";
import { truncateEnd } from "../text/output_limit.ts";
import { getPatternRisk } from "./pattern_risk.ts";

/** A file with lines that fit. */
export interface FileMatch {
  /** Canonical path. */
  readonly path: string;
  /** One item per line that fits. */
  readonly lines: readonly LineMatch[];
}

/** A line that fits, as it is shown: with its number, and lines around it that no earlier match has shown. */
export interface LineMatch {
  /** The text, one line or several. */
  readonly text: string;
}

/** What {@linkcode matchLines} is told. */
export interface MatchOptions {
  /** What a line must fit; neither global nor sticky. */
  readonly expression: RegExp;
  /** Lines to show around each match. */
  readonly context: number;
}

/** A longer line is shown only around its match. */
const MAX_SHOWN_CHARACTERS = 400;

/** Of a longer line only the beginning is searched: it is minified or data. */
const MAX_SEARCHED_CHARACTERS = 10_000;

/** What one line may cost, in steps of the engine. */
const MAX_STEPS = 20_000_000;

const decoder = new TextDecoder();

/** Finds the lines; none in a binary file. */
export function matchLines(bytes: Uint8Array, { expression, context }: MatchOptions): LineMatch[] {
  const whole = decoder.decode(bytes);
  const { maxCharacters: searched, textFilter: wholeText } = getSearchCost(expression);
  if (wholeText && !wholeText.test(whole)) return [];
  if (detectFileKind(bytes.subarray(0, SNIFF_BYTES)).type !== "text") return [];
  const lines = whole.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const matches: LineMatch[] = [];
  let lastShown = -1;
  for (const [index, line] of lines.entries()) {
    const at = searchLine(line, { expression, maxCharacters: searched });
    if (at === -1) continue;
    const before = lines.slice(Math.max(index - context, lastShown + 1), index);
    const after = getFollowingLines(lines, index, { context, expression, maxCharacters: searched });
    const gap = context > 0 && matches.length > 0 && index - before.length > lastShown + 1;
    const text = [
      ...before.map((other, offset) => formatLine(index - before.length + offset, other, "-")),
      formatLine(index, line, ":", at),
      ...after.map((other, offset) => formatLine(index + 1 + offset, other, "-")),
    ].join("\n");
    matches.push({ text: gap ? `--\n${text}` : text });
    lastShown = index + after.length;
  }
  return matches;
}

interface SearchCost {
  /** Characters of a line that are searched: fewer for patterns that take more than one look at each. */
  readonly maxCharacters: number;
  /**
   * Fits every text that has a line which fits: one look, before a text is taken apart. Only for patterns that take
   * linear time, and that do not say what must not follow.
   */
  readonly textFilter: RegExp | undefined;
}

const costCache = new WeakMap<RegExp, SearchCost>();

function getSearchCost(expression: RegExp): SearchCost {
  const known = costCache.get(expression);
  if (known) return known;
  const { source, flags } = expression;
  const risk = getPatternRisk(source);
  const exponent = risk.type === "power" ? risk.exponent + 1 : 1;
  const isSimple = risk.type === "linear" && !/\(\?<?!/.test(source);
  const cost = {
    maxCharacters: Math.min(MAX_SEARCHED_CHARACTERS, Math.floor(MAX_STEPS ** (1 / exponent))),
    textFilter: isSimple ? new RegExp(source, `${flags}m`) : undefined,
  };
  costCache.set(expression, cost);
  return cost;
}

/** The lines after a match, up to the next line that is a match itself. */
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

function searchLine(line: string, { expression, maxCharacters: searched }: LineSearch): number {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return truncateEnd(text, searched).search(expression);
}

function formatLine(index: number, line: string, mark: ":" | "-", at = 0): string {
  return `${index + 1}${mark} ${truncateAround(line.replace(/\r$/, ""), at)}`;
}

function truncateAround(line: string, at: number): string {
  if (line.length <= MAX_SHOWN_CHARACTERS) return line;
  const from = Math.max(at - MAX_SHOWN_CHARACTERS / 4, 0);
  const start = truncateEnd(line, from).length;
  const middle = truncateEnd(line.slice(start), MAX_SHOWN_CHARACTERS);
  return `${start > 0 ? "…" : ""}${middle}${start + middle.length < line.length ? "…" : ""}`;
}
