/**
 * A paragraph, which the following line may turn into a heading or a table.
 *
 * @module
 */

import type { Line } from "../line/line.ts";
import { RowWriter } from "../line/row_writer.ts";
import type { BlockOptions } from "./block.ts";
import { InlineFlow } from "./inline_flow.ts";

/** Longest text that may become a heading or the header of a table. */
const MAX_TITLE = 1_000;

/** Writes the rows of a paragraph, except a line that may be the header of a table. */
export class Paragraph {
  /** Prefix and properties of the output. */
  readonly options: BlockOptions;
  readonly #flow: InlineFlow;
  /** Its text while it has one line of which no row is written. */
  #title: string | undefined = "";
  /** A line that begins with `|` and is not written. */
  #held: { readonly text: string; readonly isFirst: boolean } | undefined;

  constructor(options: BlockOptions) {
    this.options = options;
    const { context: { getColumns, display, style }, getPrefix } = options;
    this.#flow = new InlineFlow({
      writer: new RowWriter({ getColumns, getPrefix }),
      display,
      style,
    });
  }

  /** The text that may become a heading, if there is any. */
  get title(): string | undefined {
    return this.#held === undefined ? this.#title : undefined;
  }

  /** The line that may be the header of a table. */
  get header(): string | undefined {
    return this.#held?.text ?? this.#title;
  }

  /** Whether `header` is the first line, so that no row of the paragraph is written. */
  get isHeaderFirst(): boolean {
    return this.#held?.isFirst ?? this.#title !== undefined;
  }

  /** Adds text to the current line. Returns the rows that are complete. */
  push(text: string): Line[] {
    const rows = this.#flow.push(text);
    const title = this.#title === undefined ? undefined : this.#title + text;
    this.#title = rows.length > 0 || (title?.length ?? 0) > MAX_TITLE ? undefined : title;
    return rows;
  }

  /** Starts another line. */
  startLine(text: string): Line[] {
    const rows = this.#writeHeld();
    this.#title = undefined;
    return [...rows, ...this.#flow.push(`\n${text}`)];
  }

  /** Holds a line that may be the header of a table. Returns the rows that another held line completes. */
  hold(text: string, { isFirst }: { readonly isFirst: boolean }): Line[] {
    const rows = this.#writeHeld();
    this.#title = undefined;
    this.#held = { text, isFirst };
    return rows;
  }

  /** The rows that may still change. */
  get open(): Line[] {
    return this.#flow.preview(this.#getHeldText());
  }

  /** Ends the paragraph before its held line. Returns the remaining rows. */
  endBeforeHeader(): Line[] {
    return this.#flow.end();
  }

  /** Ends the paragraph. Returns the remaining rows. */
  end(): Line[] {
    return [...this.#writeHeld(), ...this.#flow.end()];
  }

  #writeHeld(): Line[] {
    const text = this.#getHeldText();
    this.#held = undefined;
    return this.#flow.push(text);
  }

  #getHeldText(): string {
    if (!this.#held) return "";
    return this.#held.isFirst ? this.#held.text : `\n${this.#held.text}`;
  }
}
