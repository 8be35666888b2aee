/**
 * Lines of text with a style, broken to the width of a terminal.
 *
 * @module
 */

import type { Paint } from "./style.ts";
import { splitToWidth } from "./text_width.ts";

/** A line of plain text and its style. */
export interface StyledLine {
  /** The text, without control characters. */
  readonly text: string;
  /** Applied to each row of the line. */
  readonly paint: Paint;
  /** Written before each row, in ASCII or box-drawing characters. Default: none. */
  readonly mark?: string;
}

/** Paints lines without breaking them. */
export function paintLines(lines: readonly StyledLine[]): string[] {
  return lines.map(({ text, paint }) => paint(text));
}

/** Breaks lines into painted rows of at most `columns` columns. Nothing is omitted. */
export function layOutLines(lines: readonly StyledLine[], columns: number): string[] {
  return lines.flatMap(({ text, paint, mark = "" }) =>
    splitToWidth(text, columns - mark.length).map((row) => mark + paint(row))
  );
}
