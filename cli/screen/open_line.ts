/**
 * The line at the end of the output, which the next chunk continues.
 *
 * @module
 */

import { StyleState } from "./style_state.ts";
import { EMPTY_ROW, extendRow, getTabWidth, type LastRow, splitTokens } from "./styled_text.ts";

/** Longest line that can be measured again after a resize, in characters. */
const MAX_LINE = 16_384;

/** Longest end of a line that is withheld, in characters. */
const MAX_WITHHELD = 4_096;

/** Follows the output up to the position of the cursor. */
export class OpenLine {
  #row = EMPTY_ROW;
  /** The complete line; `undefined` if it is too long. */
  #line: string | undefined = "";
  /** The end of the line, if it is not certain where the terminal would break it; written when the line ends. */
  #withheld = "";
  /** The sequences that start the style at the beginning of the line. */
  #lineStart = "";
  readonly #style = new StyleState();

  /** Whether the output ends in the middle of a line. */
  get isOpen(): boolean {
    return this.#row.width > 0;
  }

  /** The last row of the line. */
  get row(): LastRow {
    return this.#row;
  }

  /** Written on the last row before the next chunk: its text again, so that the terminal has the same state as after it. */
  get start(): string {
    return this.isOpen ? this.#row.text : this.#style.start;
  }

  /** Written after a chunk, to end its style. */
  get end(): string {
    return this.isOpen ? this.#row.end : this.#style.end;
  }

  /**
   * Appends a chunk. Returns it with carriage returns, without tabs, and without control characters that move the cursor.
   */
  append(chunk: string, columns: number): string {
    let written = "";
    let added = "";
    for (const token of splitTokens(chunk)) {
      switch (token.type) {
        case "line_feed":
          written += this.#withheld + added + this.#endLine();
          added = "";
          break;
        case "tab":
          written += this.#extend(added, columns);
          // A tab does not continue on the next row.
          added = " ".repeat(
            Math.max(Math.min(getTabWidth(this.#row.width), columns - 1 - this.#row.width), 0),
          );
          break;
        case "sequence":
          this.#style.apply(token.text);
          added += token.text;
          break;
        case "text":
          added += token.text;
          break;
      }
    }
    written += this.#extend(added, columns);
    return this.#withheld.length > MAX_WITHHELD ? written + this.release() : written;
  }

  /** Measures the line for another width. Returns whether its end is known. */
  resize(columns: number): boolean {
    if (this.#line === undefined) return false;
    const { row, rest } = extendRow(EMPTY_ROW, this.#line, columns);
    this.#row = row;
    return rest === "";
  }

  /** Ends the row and returns the text that does it. The line continues on a new row. */
  release(): string {
    const isEmpty = !this.isOpen && this.#withheld === "";
    return isEmpty ? "" : this.#withheld + this.#endLine();
  }

  /** Continues the line on a new row, on which the cursor is already. */
  restart(): void {
    this.#lineStart = this.#style.start;
    this.#line = "";
    this.#row = EMPTY_ROW;
  }

  #endLine(): string {
    this.#withheld = "";
    this.restart();
    // A background color would fill the rest of the next row.
    return `${this.#style.end}\r\n${this.#style.start}`;
  }

  /** Appends text without line feeds and tabs. Returns the part of it that is written. */
  #extend(text: string, columns: number): string {
    if (text === "") return "";
    if (this.#withheld !== "") {
      this.#withheld += text;
      return "";
    }
    const added = this.#line === "" ? this.#lineStart + text : text;
    const { row, rest } = extendRow(this.#row, added, columns);
    this.#row = row;
    this.#withheld = rest;
    const line = (this.#line ?? "") + added.slice(0, added.length - rest.length);
    this.#line = this.#line === undefined || line.length > MAX_LINE ? undefined : line;
    return text.slice(0, text.length - rest.length);
  }
}
