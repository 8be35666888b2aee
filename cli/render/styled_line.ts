/**
 * Lines of text with a style, broken to the width of a terminal.
 *
 * @module
 */

import type { Paint } from "./style.ts";
import { expandTabs, splitToWidth } from "./text_width.ts";

/** A line of plain text and its style. */
export interface StyledLine {
  /** The text, without control characters. */
  readonly text: string;
  /** Applied to each row of the line. */
  readonly paint: Paint;
  /**
   * Written before each row, in ASCII or box-drawing characters. Default: a line before each row but the first, which could
   * otherwise be mistaken for the beginning of a line, such as a question. A vertical line is dashed before each row but the
   * first, so that the end of a row cannot be mistaken for a line break.
   */
  readonly mark?: string;
}

/** Paints lines without breaking them. */
export function paintLines(lines: readonly StyledLine[]): string[] {
  return lines.map(({ text, paint }) => paint(text));
}

/** A row of a line. */
export interface StyledRow {
  /** The painted row. */
  readonly text: string;
  /** Number of characters of the line on earlier rows. */
  readonly offset: number;
}

/** Options for `layOutLine()`. */
export interface LineLayout {
  /** Columns of the screen. */
  readonly columns: number;
  /** Number of characters of the line that are omitted, because earlier rows show them. */
  readonly offset: number;
}

/** The mark of the rows that continue a line without a mark. */
const CONTINUATION = "  ┆ ";

/** Breaks a line into painted rows of at most `columns` columns. */
export function layOutLine(
  { text, paint, mark }: StyledLine,
  { columns, offset }: LineLayout,
): StyledRow[] {
  const expanded = expandTabs(text);
  const isBroken = mark === undefined && splitToWidth(expanded, columns).length > 1;
  const width = columns - (isBroken ? CONTINUATION.length : (mark ?? "").length);
  let start = offset;
  return splitToWidth(expanded.slice(offset), width).map((row) => {
    const before = start > 0 ? mark?.replace("│", "┆") ?? CONTINUATION : mark ?? "";
    const styled = { text: before + paint(row), offset: start };
    start += row.length;
    return styled;
  });
}
