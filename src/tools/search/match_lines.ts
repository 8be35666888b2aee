/**
 * The lines of a file that fit a regular expression.
 *
 * @module
 */

import { fileKind, SNIFF_BYTES } from "../text/file_kind.ts";
import { cutAfter } from "../text/output_limit.ts";
import { patternRisk } from "./pattern_risk.ts";

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

/** What {@linkcode matchesIn} is told. */
export interface MatchOptions {
  /** What a line must fit; neither global nor sticky. */
  readonly expression: RegExp;
  /** Lines to show around each match. */
  readonly context: number;
}

/** A longer line is shown only around its match. */
const MAX_SHOWN = 400;

/** Of a longer line only the beginning is searched: it is minified or data. */
const MAX_SEARCHED = 10_000;

/** What one line may cost, in steps of the engine. */
const MAX_STEPS = 20_000_000;

const decoder = new TextDecoder();

/** Finds the lines; none in a binary file. */
export function matchesIn(bytes: Uint8Array, { expression, context }: MatchOptions): LineMatch[] {
  const whole = decoder.decode(bytes);
  const { searched, wholeText } = costOf(expression);
  if (wholeText && !wholeText.test(whole)) return [];
  if (fileKind(bytes.subarray(0, SNIFF_BYTES)).type !== "text") return [];
  const lines = whole.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const matches: LineMatch[] = [];
  let lastShown = -1;
  for (const [index, line] of lines.entries()) {
    const at = searchLine(line, { expression, searched });
    if (at === -1) continue;
    const before = lines.slice(Math.max(index - context, lastShown + 1), index);
    const after = followingLines(lines, index, { context, expression, searched });
    const gap = context > 0 && matches.length > 0 && index - before.length > lastShown + 1;
    const text = [
      ...before.map((other, offset) => numbered(index - before.length + offset, other, "-")),
      numbered(index, line, ":", at),
      ...after.map((other, offset) => numbered(index + 1 + offset, other, "-")),
    ].join("\n");
    matches.push({ text: gap ? `--\n${text}` : text });
    lastShown = index + after.length;
  }
  return matches;
}

interface Cost {
  /** Characters of a line that are searched: fewer for patterns that take more than one look at each. */
  readonly searched: number;
  /**
   * Fits every text that has a line which fits: one look, before a text is taken apart. Only for patterns that take
   * linear time, and that do not say what must not follow.
   */
  readonly wholeText: RegExp | undefined;
}

const costs = new WeakMap<RegExp, Cost>();

function costOf(expression: RegExp): Cost {
  const known = costs.get(expression);
  if (known) return known;
  const { source, flags } = expression;
  const risk = patternRisk(source);
  const exponent = risk.type === "power" ? risk.exponent + 1 : 1;
  const isSimple = risk.type === "linear" && !/\(\?<?!/.test(source);
  const cost = {
    searched: Math.min(MAX_SEARCHED, Math.floor(MAX_STEPS ** (1 / exponent))),
    wholeText: isSimple ? new RegExp(source, `${flags}m`) : undefined,
  };
  costs.set(expression, cost);
  return cost;
}

/** The lines after a match, up to the next line that is a match itself. */
function followingLines(
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
  readonly searched: number;
}

function searchLine(line: string, { expression, searched }: LineSearch): number {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return cutAfter(text, searched).search(expression);
}

function numbered(index: number, line: string, mark: ":" | "-", at = 0): string {
  return `${index + 1}${mark} ${excerpt(line.replace(/\r$/, ""), at)}`;
}

function excerpt(line: string, at: number): string {
  if (line.length <= MAX_SHOWN) return line;
  const from = Math.max(at - MAX_SHOWN / 4, 0);
  const start = cutAfter(line, from).length;
  const middle = cutAfter(line.slice(start), MAX_SHOWN);
  return `${start > 0 ? "…" : ""}${middle}${start + middle.length < line.length ? "…" : ""}`;
}
