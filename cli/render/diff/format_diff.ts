/**
 * Formatting of diffs for a terminal.
 *
 * @module
 */

import type { Highlighter, LineHighlighter } from "../highlight/highlighter.ts";
import { getLanguage } from "../highlight/language.ts";
import { formatMissingLines } from "../line/limited_lines.ts";
import type { Line, Span } from "../line/line.ts";
import { getLineWidth, padLine, trimLineEnd, truncateLine } from "../line/line_width.ts";
import { breakLine } from "../line/row_breaker.ts";
import { restyle } from "../line/split_spans.ts";
import type { Display } from "../theme/display.ts";
import { toVisibleText } from "../visible_text.ts";
import { countChanges } from "./diff_change.ts";
import { type LinePair, type NumberedLine, pairLines } from "./diff_rows.ts";
import type { DiffHunk, DiffLayout, FileDiff } from "./file_diff.ts";

/** Fewest columns of a terminal for two sides. */
const MIN_SIDE_BY_SIDE = 80;

/** Columns of the terminal where the output has none. */
const DEFAULT_COLUMNS = 160;

/** Columns between both sides: a space, the separator and a space. */
const GAP = 3;

/** Options for `formatDiff()`. */
export interface FormatDiffOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
  /** Order of the lines. A terminal of less than 80 columns shows a unified diff. Default: `unified`. */
  readonly layout?: DiffLayout | undefined;
  /** Highlights code by the extension of the file. Default: code is not highlighted. */
  readonly highlighter?: Highlighter | undefined;
  /** Maximum number of lines before the line that states how many are missing. Default: all. */
  readonly maxLines?: number | undefined;
  /** How to see the missing lines, such as `/diff shows all`. Default: nothing. */
  readonly hint?: string | undefined;
}

/** Formats the diffs of files. */
export function formatDiff(diffs: readonly FileDiff[], options: FormatDiffOptions): Line[] {
  const { maxLines = Infinity } = options;
  const lines: Line[] = [];
  let written = 0;
  for (const [index, diff] of diffs.entries()) {
    if (index > 0) lines.push([]);
    for (const { rows, sourceLines } of formatFile(diff, options)) {
      if (lines.length + rows.length > maxLines) {
        return [...lines, formatMissingLines(countMissing(diffs, written), options)];
      }
      lines.push(...rows);
      written += sourceLines;
    }
  }
  return lines;
}

/** Rows that are written together, and the number of lines of hunks that they show. */
interface RowGroup {
  readonly rows: readonly Line[];
  readonly sourceLines: number;
}

function countMissing(diffs: readonly FileDiff[], written: number): number {
  const hunks = diffs.flatMap((diff) => diff.hunks);
  return hunks.reduce((sum, { lines }) => sum + countLines(lines), 0) - written;
}

function countLines(lines: DiffHunk["lines"]): number {
  return lines.filter(({ type }) => type !== "note").length;
}

function* formatFile(diff: FileDiff, options: FormatDiffOptions): Generator<RowGroup> {
  const columns = Number.isFinite(options.columns) ? options.columns : DEFAULT_COLUMNS;
  yield { rows: breakLine(formatTitle(diff, options), { columns }), sourceLines: 0 };
  const format = createHunkFormatter(diff, { ...options, columns });
  for (const [index, hunk] of diff.hunks.entries()) {
    if (index > 0 || isPartial(diff, hunk)) {
      yield { rows: [formatPosition(hunk, { ...options, columns })], sourceLines: 0 };
    }
    yield* format(hunk);
  }
}

/** Whether a file has lines before its first hunk. */
function isPartial({ kind }: FileDiff, { beforeStart, section }: DiffHunk): boolean {
  return kind !== "created" && kind !== "deleted" && (beforeStart > 1 || section !== "");
}

function formatTitle(diff: FileDiff, { display: { symbols } }: FormatDiffOptions): Line {
  const { path, previousPath, kind, notes } = diff;
  const { added, removed } = countChanges(diff);
  const name = toVisibleText(path || "unnamed file");
  const from = previousPath === undefined ? "" : `${toVisibleText(previousPath)} ${symbols.arrow} `;
  const details = [
    ...(kind === "changed" ? [] : [kind]),
    ...(added > 0 ? [`+${added}`] : []),
    ...(removed > 0 ? [`-${removed}`] : []),
    ...notes.map(toVisibleText),
  ];
  return [
    { text: from + name, role: "hunk", bold: true },
    ...(details.length > 0 ? [{ text: ` (${details.join(", ")})`, role: "faint" } as const] : []),
  ];
}

function formatPosition(
  { beforeStart, afterStart, section }: DiffHunk,
  { columns, display: { symbols } }: FormatDiffOptions,
): Line {
  const position = beforeStart === afterStart
    ? `${afterStart}`
    : `${beforeStart} ${symbols.arrow} ${afterStart}`;
  const text = `@@ line ${position}${
    section === "" ? "" : ` ${symbols.separator} ${toVisibleText(section)}`
  }`;
  return truncateLine([{ text: text.replaceAll("\t", " "), role: "hunk" }], {
    columns,
    ellipsis: symbols.ellipsis,
  });
}

/** Formats the hunks of a file, in order. */
type FormatHunk = (hunk: DiffHunk) => Iterable<RowGroup>;

function createHunkFormatter(diff: FileDiff, options: FormatDiffOptions): FormatHunk {
  const { columns, layout } = options;
  const last = diff.hunks.at(-1);
  const digits = String(
    Math.max(last?.beforeStart ?? 0, last?.afterStart ?? 0) + (last?.lines.length ?? 0),
  ).length;
  const writer = new DiffLineWriter(diff, { ...options, digits });
  return layout === "side_by_side" && columns >= MIN_SIDE_BY_SIDE
    ? (hunk) => formatSides(hunk, writer, options)
    : (hunk) => formatUnified(hunk, writer, options);
}

function* formatUnified(
  hunk: DiffHunk,
  writer: DiffLineWriter,
  { columns }: FormatDiffOptions,
): Generator<RowGroup> {
  for (const block of groupPairs(pairLines(hunk))) {
    const [first] = block;
    if (first?.before?.type === "context") {
      writer.skip(first.before);
      yield { rows: writer.format(first, "after", columns), sourceLines: 1 };
      continue;
    }
    for (const side of ["before", "after"] as const) {
      for (const pair of block.filter((entry) => entry[side])) {
        yield { rows: writer.format(pair, side, columns), sourceLines: 1 };
      }
    }
  }
}

/** Groups adjacent pairs of changed lines; a line of the context is a group of its own. */
function groupPairs(pairs: readonly LinePair[]): LinePair[][] {
  const groups: LinePair[][] = [];
  let isChange = false;
  for (const pair of pairs) {
    const wasChange = isChange;
    isChange = pair.before?.type !== "context";
    if (isChange && wasChange) groups.at(-1)?.push(pair);
    else groups.push([pair]);
  }
  return groups;
}

function* formatSides(
  hunk: DiffHunk,
  writer: DiffLineWriter,
  { columns, display: { symbols } }: FormatDiffOptions,
): Generator<RowGroup> {
  const width = Math.floor((columns - GAP) / 2);
  for (const pair of pairLines(hunk)) {
    const left = pair.before ? writer.format(pair, "before", width) : [];
    const right = pair.after ? writer.format(pair, "after", width) : [];
    const rows = Array.from(
      { length: Math.max(left.length, right.length) },
      (_, index) =>
        trimLineEnd([
          ...padLine(left[index] ?? [], { columns: width }),
          { text: ` ${symbols.column} `, role: "mark" },
          ...(right[index] ?? []),
        ]),
    );
    const isContext = pair.before?.type === "context";
    yield { rows, sourceLines: isContext ? 1 : Number(left.length > 0) + Number(right.length > 0) };
  }
}

/** Formats the lines of a file with their numbers, marks and highlighted code. */
class DiffLineWriter {
  readonly #display: Display;
  readonly #digits: number;
  readonly #highlighters: Readonly<Record<"before" | "after", LineHighlighter | undefined>>;

  constructor(
    { path, previousPath = path }: FileDiff,
    { display, highlighter, digits }: FormatDiffOptions & { readonly digits: number },
  ) {
    this.#display = display;
    this.#digits = digits;
    const start = (name: string) => highlighter?.start(getLanguage(name) ?? "");
    this.#highlighters = { before: start(previousPath), after: start(path) };
  }

  /** Formats one side of a pair. */
  format(pair: LinePair, side: "before" | "after", columns: number): Line[] {
    const line = pair[side];
    if (!line) return [];
    const mark = line.type === "added" ? "+" : line.type === "removed" ? "-" : " ";
    const number = String(line.number).padStart(this.#digits);
    const role = line.type === "context" ? "text" : line.type === "added" ? "added" : "removed";
    const first: Line = [{ text: `${number} `, role: "faint" }, { text: `${mark} `, role }];
    const next: Line = [{ text: " ".repeat(getLineWidth(first)) }];
    const remark: Span[] = line.remark === undefined
      ? []
      : [{ text: ` (${line.remark})`, role: "faint" }];
    return breakLine([...this.#formatCode(line, side), ...remark], { columns, first, next })
      .map(trimLineEnd);
  }

  /** Reads a line of the file before the change that is shown on the other side. */
  skip({ text }: NumberedLine): void {
    this.#highlighters.before?.next(toVisibleText(text));
  }

  #formatCode(line: NumberedLine, side: "before" | "after"): Span[] {
    const source = toVisibleText(line.text);
    const highlighted = this.#highlighters[side]?.next(source) ?? [{ text: source }];
    if (line.type === "context") return highlighted;
    const kind = line.type === "added" ? "added" : "removed";
    const ground = `${kind}Line` as const;
    const isTinted = this.#hasTints && this.#highlighters[side] !== undefined;
    const spans: Span[] = isTinted
      ? highlighted.map((span) => ({ ...span, ground }))
      : [{ text: source, role: kind }];
    // Code points have moved the offsets of the changed part.
    if (!line.changed || source !== line.text) return spans;
    return restyle(spans, { ...line.changed, style: { role: `${kind}Word` } });
  }

  /** Whether the terminal has colors for backgrounds that leave highlighted code legible. */
  get #hasTints(): boolean {
    const { colors, theme } = this.#display;
    return colors === "true_color" && theme.looks.addedLine.background !== undefined;
  }
}
