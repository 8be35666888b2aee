/**
 * Word wrapping of complete lines.
 *
 * @module
 */

import type { Line, Span } from "./line.ts";
import { RowWriter } from "./row_writer.ts";

/** Options for `wrapLine()`. */
export interface WrapOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** Written before the first row. Default: nothing. */
  readonly first?: Line | undefined;
  /** Written before the other rows, such as the spaces of a hanging indentation. Default: nothing. */
  readonly next?: Line | undefined;
}

/** Wraps a line; a line feed in a span starts a row too. */
export function wrapLine(
  line: readonly Span[],
  { columns, first = [], next = [] }: WrapOptions,
): Line[] {
  const writer = new RowWriter({
    getColumns: () => columns,
    getPrefix: (row) => row === 0 ? first : next,
  });
  return [...writer.write(line), ...writer.end()];
}
