/**
 * The details of a question, one screenful at a time.
 *
 * @module
 */

import type { Terminal } from "../host/terminal.ts";
import { layOutLine, type StyledLine } from "../render/styled_line.ts";

/** Rows of the screen that a page leaves free: an empty one, the notice, the question and a hint. */
const FREE_ROWS = 4;
const MINIMUM_ROWS = 5;

/** A page, which begins and ends between two rows. */
interface Page {
  /** Position of the first row. */
  readonly start: Position;
  /** Position of the row that follows the last one. */
  readonly end: Position;
  readonly rows: readonly string[];
  /** Number of rows that follow. */
  readonly hidden: number;
}

/** The beginning of a row, whatever the width of the screen. */
interface Position {
  /** Index of the line. */
  readonly line: number;
  /** Number of characters of the line on earlier rows. */
  readonly offset: number;
}

/** Divides the details of a question into pages that fit on the screen. */
export class DetailPages {
  readonly #lines: readonly StyledLine[];
  readonly #terminal: Pick<Terminal, "columns" | "rows">;
  #page: Page;

  constructor(lines: readonly StyledLine[], terminal: Pick<Terminal, "columns" | "rows">) {
    this.#lines = lines;
    this.#terminal = terminal;
    this.#page = this.#layOut({ line: 0, offset: 0 });
  }

  /** Whether rows follow the current page. */
  get hasMore(): boolean {
    return this.#page.hidden > 0;
  }

  /** Moves to the next page, for the current size of the screen. It begins after the last row that was shown. */
  advance(): void {
    this.#page = this.#layOut(this.#page.end);
  }

  /** Lays the current page out again, which must then be shown. */
  redraw(): void {
    this.#page = this.#layOut(this.#page.start);
  }

  /** The text of the current page, which ends with a notice when rows follow. */
  get text(): string {
    const { rows, hidden } = this.#page;
    const notice = hidden > 0
      ? [`  … ${hidden} more ${hidden === 1 ? "line" : "lines"}: [v]iew`]
      : [];
    return [...rows, ...notice].map((row) => `${row}\n`).join("");
  }

  #layOut(start: Position): Page {
    const { columns, rows: screenRows } = this.#terminal;
    const all = this.#lines.slice(start.line).flatMap((line, index) =>
      layOutLine(line, { columns, offset: index === 0 ? start.offset : 0 })
        .map((row) => ({ ...row, line: start.line + index }))
    );
    const rows = all.slice(0, Math.max(screenRows - FREE_ROWS, MINIMUM_ROWS));
    const next = all[rows.length];
    const end = next ?? { line: this.#lines.length, offset: 0 };
    return { start, end, rows: rows.map(({ text }) => text), hidden: all.length - rows.length };
  }
}
