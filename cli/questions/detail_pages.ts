/**
 * The details of a question, one screenful at a time.
 *
 * @module
 */

import type { Terminal } from "../host/terminal.ts";
import { layOutLines, type StyledLine } from "../render/styled_line.ts";

/** Rows of the screen that a page leaves free: an empty one, the notice, the question and a hint. */
const FREE_ROWS = 4;
const MINIMUM_ROWS = 5;

/** Divides the details of a question into pages that fit on the screen. */
export class DetailPages {
  readonly #lines: readonly StyledLine[];
  readonly #terminal: Pick<Terminal, "columns" | "rows">;
  /** Rows of the earlier pages and of the current one, as laid out when they were shown. */
  #first = 0;
  #end = 0;
  #rows: readonly string[] = [];

  constructor(lines: readonly StyledLine[], terminal: Pick<Terminal, "columns" | "rows">) {
    this.#lines = lines;
    this.#terminal = terminal;
    this.#rows = layOutLines(lines, terminal.columns);
    this.#setPage(0);
  }

  /** Whether rows follow the current page. */
  get hasMore(): boolean {
    return this.#end < this.#rows.length;
  }

  /** Moves to the next page. */
  advance(): void {
    this.#setPage(this.#end);
  }

  /** Lays the current page out again, for a screen whose size has changed; it begins with the same row or earlier. */
  resize(): void {
    const isFirstPage = this.#first === 0;
    const share = this.#first / Math.max(this.#rows.length, 1);
    this.#rows = layOutLines(this.#lines, this.#terminal.columns);
    this.#setPage(isFirstPage ? 0 : Math.floor(share * this.#rows.length));
  }

  /** The text of the current page, which ends with a notice when rows follow. */
  get text(): string {
    const hidden = this.#rows.length - this.#end;
    const notice = hidden > 0
      ? [`  … ${hidden} more ${hidden === 1 ? "line" : "lines"}: [v]iew`]
      : [];
    const rows = [...this.#rows.slice(this.#first, this.#end), ...notice];
    return rows.map((row) => `${row}\n`).join("");
  }

  #setPage(first: number): void {
    this.#first = first;
    this.#end = first + Math.max(this.#terminal.rows - FREE_ROWS, MINIMUM_ROWS);
  }
}
