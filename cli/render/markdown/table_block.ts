/**
 * Rendering of a table while it arrives.
 *
 * @module
 */

import type { Line } from "../line/line.ts";
import { getLineWidth, truncateLine } from "../line/line_width.ts";
import { pluralize } from "../tool_line.ts";
import type { BlockOptions } from "./block.ts";
import { renderInline } from "./inline_spans.ts";
import { type CellRow, layOutTable, type TableLayout } from "./table_layout.ts";
import { type Alignment, parseDelimiterRow, splitCells, splitRow } from "./table_source.ts";

/** Rows after which the layout is decided, though further rows may need wider columns. */
const MAX_HELD_ROWS = 40;

/** Time after which the layout is decided. */
const MAX_HELD_MS = 2_000;

/** Longest source of a row; the rest is cut visibly. */
const MAX_ROW_CHARACTERS = 10_000;

/** Options for {@linkcode TableBlock}. */
export interface TableBlockOptions extends BlockOptions {
  /** Source of the header. */
  readonly header: string;
  /** Source of the row below the header. */
  readonly delimiters: string;
}

/** Holds the rows of a table until the widths of its columns are known, and writes further ones at once. */
export class TableBlock {
  readonly #options: TableBlockOptions;
  readonly #alignments: readonly Alignment[];
  readonly #header: CellRow;
  readonly #startedAt: number;
  #held: CellRow[] = [];
  #layout: TableLayout | undefined;
  #rowCount = 0;

  constructor(options: TableBlockOptions) {
    this.#options = options;
    const { context, header, delimiters } = options;
    this.#alignments = parseDelimiterRow(delimiters) ?? [];
    this.#header = splitCells(header).map((cell) => this.#renderCell(cell));
    this.#startedAt = context.now();
  }

  /** Adds a row. Returns the lines that it completes. */
  push(source: string): Line[] {
    const cut = source.length > MAX_ROW_CHARACTERS
      ? source.slice(0, MAX_ROW_CHARACTERS) + this.#options.context.display.symbols.ellipsis
      : source;
    const row = splitRow(cut, this.#header.length).map((cell) => this.#renderCell(cell));
    if (this.#layout) return this.#addPrefix(this.#layout.formatRow(row));
    this.#held.push(row);
    return this.#held.length >= MAX_HELD_ROWS ? this.#decide() : [];
  }

  /** Returns the lines that have been held for too long. */
  poll(): Line[] {
    const { context: { now } } = this.#options;
    return !this.#layout && now() - this.#startedAt >= MAX_HELD_MS ? this.#decide() : [];
  }

  /** A row that shows how many rows are held; none once rows are written at once. */
  get open(): Line[] {
    if (this.#layout) return [];
    const { context: { getColumns, display }, getPrefix } = this.#options;
    const text = `table, ${pluralize(this.#held.length, "row")}`;
    const line: Line = [...getPrefix(this.#rowCount), { text, role: "faint" }];
    return [truncateLine(line, { columns: getColumns(), ellipsis: display.symbols.ellipsis })];
  }

  /** Returns the remaining lines. */
  end(): Line[] {
    return this.#layout ? [] : this.#decide();
  }

  #decide(): Line[] {
    const { context: { getColumns, display }, getPrefix } = this.#options;
    const prefixColumns = Math.max(getLineWidth(getPrefix(0)), getLineWidth(getPrefix(1)));
    const layout = layOutTable(this.#header, this.#held, {
      alignments: this.#alignments,
      columns: getColumns() - prefixColumns,
      display,
    });
    this.#layout = layout;
    const rows = this.#held.flatMap((row) => layout.formatRow(row));
    this.#held = [];
    return this.#addPrefix([...layout.formatHeader(), ...rows]);
  }

  #addPrefix(lines: readonly Line[]): Line[] {
    return lines.map((line) => [...this.#options.getPrefix(this.#rowCount++), ...line]);
  }

  #renderCell(source: string): ReturnType<typeof renderInline> {
    const { context: { display, style } } = this.#options;
    return renderInline(source, { display, style });
  }
}
