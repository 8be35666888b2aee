/**
 * Layout of tables in the width of a terminal.
 *
 * @module
 */

import { joinSpans } from "../line/append_span.ts";
import type { Line, Span } from "../line/line.ts";
import { getLineWidth, padLine, trimLineEnd } from "../line/line_width.ts";
import { wrapLine } from "../line/wrap_line.ts";
import type { Display } from "../theme/display.ts";
import type { Alignment } from "./table_source.ts";

/** The cells of a row; a line feed in a span is a line break in the cell. */
export type CellRow = readonly (readonly Span[])[];

/** Options for `layOutTable()`. */
export interface TableOptions {
  /** Alignment of each column. */
  readonly alignments: readonly Alignment[];
  /** Maximum columns of a line. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
}

/** Lines of a table, whose layout is decided. */
export interface TableLayout {
  /** Formats the header. */
  formatHeader(): Line[];
  /** Formats a row, also one that was not known when the layout was decided. */
  formatRow(row: CellRow): Line[];
}

/** Fewest columns of a cell in a table; with less, each row becomes a list of its cells. */
const MIN_CELL_COLUMNS = 6;

/** Columns between cells: a space, the separator and a space. */
const GAP = 3;

/** Columns of a rule where the output has no width. */
const UNLIMITED = 1_000;

/**
 * Decides the layout of a table by its header and the first rows: each column as wide as its widest cell, or narrower so
 * that the table fits, with wrapped cells. A table with too many columns becomes a list of cells for each row.
 */
export function layOutTable(
  header: CellRow,
  rows: readonly CellRow[],
  options: TableOptions,
): TableLayout {
  const natural = header.map((_, index) =>
    Math.max(1, ...[header, ...rows].map((row) => getCellWidth(row[index] ?? [])))
  );
  const columns = Math.min(options.columns, UNLIMITED);
  const widths = fitWidths(natural, columns - GAP * (natural.length - 1));
  if (!widths) return createRecords(header, columns, options.display);
  return createGrid(header, { ...options, widths, hasRules: isWrapped([header, ...rows], widths) });
}

function getCellWidth(cell: readonly Span[]): number {
  const text = cell.map((span) => span.text).join("");
  return Math.max(...text.split("\n").map((line) => getLineWidth([{ text: line }])));
}

/** Narrows the widest columns until all fit; `undefined` if cells would become too narrow. */
function fitWidths(natural: readonly number[], available: number): number[] | undefined {
  if (sum(natural) <= available) return [...natural];
  const sorted = natural.toSorted((left, right) => left - right);
  let rest = available;
  let limit = 0;
  for (const [index, width] of sorted.entries()) {
    limit = Math.floor(rest / (sorted.length - index));
    if (width > limit) break;
    rest -= width;
  }
  if (limit < MIN_CELL_COLUMNS) return undefined;
  const widths = natural.map((width) => Math.min(width, limit));
  let spare = available - sum(widths);
  return widths.map((width, index) => {
    if (spare === 0 || width === natural[index]) return width;
    spare--;
    return width + 1;
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function isWrapped(rows: readonly CellRow[], widths: readonly number[]): boolean {
  return rows.some((row) =>
    row.some((cell, index) => wrapLine(cell, { columns: widths[index] ?? 1 }).length > 1)
  );
}

interface GridOptions extends TableOptions {
  readonly widths: readonly number[];
  /** Whether a rule separates the rows, because cells take several lines. */
  readonly hasRules: boolean;
}

function createGrid(header: CellRow, options: GridOptions): TableLayout {
  const { display: { symbols }, widths, hasRules } = options;
  const rule: Line = [{
    text: widths.map((width) => symbols.rule.repeat(width)).join(
      `${symbols.rule}${symbols.crossing}${symbols.rule}`,
    ),
    role: "mark",
  }];
  let isFirst = true;
  return {
    formatHeader: () => [
      ...formatGridRow(
        header.map((cell) => cell.map((span) => ({ bold: true, ...span }))),
        options,
      ),
      rule,
    ],
    formatRow(row) {
      const lines = formatGridRow(row, options);
      const separated = hasRules && !isFirst ? [rule, ...lines] : lines;
      isFirst = false;
      return separated;
    },
  };
}

function formatGridRow(
  row: CellRow,
  { widths, alignments, display: { symbols } }: GridOptions,
): Line[] {
  const cells = widths.map((width, index) => wrapLine(row[index] ?? [], { columns: width }));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => {
    const spans = cells.flatMap((lines, index) => {
      const cell = padLine(lines[at] ?? [], {
        columns: widths[index] ?? 1,
        align: alignments[index] ?? "left",
      });
      if (index === widths.length - 1) return cell;
      return [...cell, { text: ` ${symbols.column} `, role: "mark" } as const];
    });
    return trimLineEnd(joinSpans(spans));
  });
}

/** Formats each row as lines of `header: cell`, separated by a rule. */
function createRecords(header: CellRow, columns: number, { symbols }: Display): TableLayout {
  const rule: Line = [{ text: symbols.rule.repeat(Math.min(columns, 20)), role: "mark" }];
  return {
    formatHeader: () => [rule],
    formatRow: (row) => [
      ...header.flatMap((name, index) => {
        const label = name.map((span) => ({
          bold: true,
          ...span,
          text: span.text.replaceAll("\n", " "),
        }));
        const line = [...label, { text: ": " }, ...(row[index] ?? [])];
        return wrapLine(line, { columns, next: [{ text: "  " }] });
      }),
      rule,
    ],
  };
}
