/**
 * Breaking of code into rows, with all of its spaces.
 *
 * @module
 */

import { expandTabs, getTextWidth, splitGraphemes } from "../text_width.ts";
import { appendSpan } from "./append_span.ts";
import type { Line, Span } from "./line.ts";
import { getLineWidth } from "./line_width.ts";
import type { RowWriterOptions } from "./row_writer.ts";
import type { WrapOptions } from "./wrap_line.ts";

/** Matches text whose characters take one column each. */
const ASCII = /^[ -~]*$/;

/** Breaks text into rows between graphemes, wherever a row is full. Tabs become four spaces. */
export class RowBreaker {
  readonly #options: RowWriterOptions;
  #rows: Line[] = [];
  #row: Span[] | undefined;
  #rowCount = 0;
  #columns = 0;
  #column = 0;
  #hasText = false;

  constructor(options: RowWriterOptions) {
    this.#options = options;
  }

  /** Adds text without line feeds. Returns the rows that are complete. */
  write(spans: Iterable<Span>): Line[] {
    for (const span of spans) this.#add({ ...span, text: expandTabs(span.text) });
    return this.#takeRows();
  }

  /** Ends the last row. Returns it; an empty one if nothing has been written. */
  end(): Line[] {
    this.#openRow();
    this.#finishRow();
    return this.#takeRows();
  }

  /** Returns the open row, which may grow. */
  get open(): Line {
    return this.#openRow();
  }

  #add(span: Span): void {
    const graphemes = ASCII.test(span.text) ? undefined : splitGraphemes(span.text);
    let at = 0;
    for (let index = 0; at < span.text.length; index++) {
      this.#openRow();
      const available = Math.max(this.#columns - this.#column, 0);
      const text = graphemes?.[index] ?? span.text.slice(at, at + Math.max(available, 1));
      const width = graphemes ? getTextWidth(text) : text.length;
      if (width > available && this.#hasText) this.#finishRow();
      appendSpan(this.#openRow(), { ...span, text });
      this.#column += width;
      this.#hasText = true;
      at += text.length;
    }
  }

  #openRow(): Span[] {
    if (this.#row) return this.#row;
    const { getColumns, getPrefix } = this.#options;
    this.#row = [...getPrefix?.(this.#rowCount) ?? []];
    this.#column = getLineWidth(this.#row);
    this.#columns = getColumns();
    this.#hasText = false;
    return this.#row;
  }

  #finishRow(): void {
    if (this.#row) this.#rows.push(this.#row);
    this.#row = undefined;
    this.#rowCount++;
  }

  #takeRows(): Line[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

/** Breaks a complete line of code into rows. */
export function breakLine(
  line: readonly Span[],
  { columns, first = [], next = [] }: WrapOptions,
): Line[] {
  const breaker = new RowBreaker({
    getColumns: () => columns,
    getPrefix: (row) => row === 0 ? first : next,
  });
  return [...breaker.write(line), ...breaker.end()];
}
