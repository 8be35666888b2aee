/**
 * Some lines of a text that arrives in pieces, numbered, within the limits of one answer.
 *
 * @module
 */

import { formatNumber, OUTPUT_LIMIT, truncateEnd } from "./output_limit.ts";

/** Which lines. */
export interface LineRange {
  /** The first one, from 1. */
  readonly offset: number;
  /** The most. */
  readonly limit: number;
}

/** A longer line is cut: it is minified or data, and not for reading. */
const MAX_LINE_CHARACTERS = 2_000;

/** Picks the lines of a range; holds no more of the text than will be shown. */
export class LineWindow {
  /** Number of the first line in the window. */
  readonly firstLine: number;
  readonly #limit: number;
  readonly #lines: string[] = [];
  #characters = 0;
  #number = 1;
  #line = "";
  #lineLength = 0;
  #isFull = false;
  #totalLines: number | undefined;

  /** Makes the window of a range. */
  constructor({ offset, limit }: LineRange) {
    this.firstLine = offset;
    this.#limit = limit;
  }

  /** The lines so far, each with its number and a tab before it. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether there are lines past the window. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Lines of the whole text; known after its end. */
  get totalLines(): number | undefined {
    return this.#totalLines;
  }

  /** Takes the next piece of the text. */
  push(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#extend(text, from, end);
      this.#endLine();
      from = end + 1;
    }
    this.#extend(text, from, text.length);
  }

  /** Ends the text; a last line without a newline counts. */
  end(): void {
    if (this.#lineLength > 0) this.#endLine();
    this.#totalLines = this.#number - 1;
  }

  #extend(text: string, from: number, to: number): void {
    this.#lineLength += to - from;
    const room = MAX_LINE_CHARACTERS + 2 - this.#line.length;
    if (room > 0) this.#line += text.slice(from, Math.min(to, from + room));
  }

  #endLine(): void {
    const number = this.#number++;
    const line = `${number}\t${this.#formatLine()}`;
    this.#line = "";
    this.#lineLength = 0;
    if (number < this.firstLine || this.#isFull) return;
    this.#characters += line.length + 1;
    const tooMuch = this.#lines.length > 0 && this.#characters > OUTPUT_LIMIT;
    if (this.#lines.length === this.#limit || tooMuch) this.#isFull = true;
    else this.#lines.push(line);
  }

  #formatLine(): string {
    if (this.#lineLength <= MAX_LINE_CHARACTERS + 1) return this.#line.replace(/\r$/, "");
    const start = truncateEnd(this.#line, MAX_LINE_CHARACTERS);
    return `${start} [… a line of ${formatNumber(this.#lineLength)} characters …]`;
  }
}
