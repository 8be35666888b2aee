/**
 * Lines up to a maximum, with a line that states how many are missing.
 *
 * @module
 */

import type { Display } from "../theme/display.ts";
import { pluralize } from "../tool_line.ts";
import type { Line } from "./line.ts";
import { truncateLine } from "./line_width.ts";

/** Options for `formatMissingLines()`. */
export interface MissingLinesOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
  /** How to see the missing lines. Default: nothing. */
  readonly hint?: string | undefined;
}

/** Formats the line behind a text that has been cut, such as `… 12 more lines · /expand 3 all`. */
export function formatMissingLines(
  count: number,
  { columns, display: { symbols }, hint }: MissingLinesOptions,
): Line {
  const rest = `${symbols.ellipsis} ${pluralize(count, "more line")}`;
  const text = hint ? `${rest} ${symbols.separator} ${hint}` : rest;
  return truncateLine([{ text, role: "faint" }], { columns, ellipsis: symbols.ellipsis });
}

/** Collects the rows of source lines up to a maximum, and counts the source lines whose rows are missing. */
export class LimitedLines {
  readonly #maxRows: number;
  #rows: Line[] = [];
  #missing = 0;

  /** @param maxRows Maximum number of rows before the line about the missing ones. */
  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** Whether further lines are only counted. */
  get isFull(): boolean {
    return this.#missing > 0 || this.#rows.length >= this.#maxRows;
  }

  /** Adds a source line, whose rows are formatted only if they are shown. */
  add(format: () => readonly Line[]): void {
    const rows = this.isFull ? [] : format();
    const isShown = !this.isFull && this.#rows.length + rows.length <= this.#maxRows;
    if (isShown) this.#rows.push(...rows);
    // The first line is shown in part rather than not at all.
    else if (this.#rows.length === 0) {
      this.#rows.push(...rows.slice(0, this.#maxRows));
      this.#missing++;
    } else this.#missing++;
  }

  /** Returns the rows, with a line about the missing ones if there are any. */
  finish(options: MissingLinesOptions): Line[] {
    return this.#missing === 0
      ? this.#rows
      : [...this.#rows, formatMissingLines(this.#missing, options)];
  }
}
