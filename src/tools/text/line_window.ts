/**
 * A range of numbered lines from a text that arrives in chunks, within the size limit of a tool result.
 *
 * @module
 */

import { formatNumber, OUTPUT_LIMIT, truncateEnd } from "../../core/text/output_limit.ts";

/** A range of lines. */
export interface LineRange {
  /** Number of the first line, from 1. */
  readonly offset: number;
  /** Maximum number of lines. */
  readonly limit: number;
}

/** Maximum length of a line; longer ones are minified code or data and are truncated. */
const MAX_LINE_CHARACTERS = 2_000;

/** Collects the lines of a range and buffers no text outside of it. */
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

  constructor({ offset, limit }: LineRange) {
    this.firstLine = offset;
    this.#limit = limit;
  }

  /** The lines so far, each as number, tab and text. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether the text has lines after the collected ones. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Number of lines in the complete text; `undefined` before `end()`. */
  get totalLines(): number | undefined {
    return this.#totalLines;
  }

  /** Adds the next chunk of text. */
  push(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#extend(text, from, end);
      this.#endLine();
      from = end + 1;
    }
    this.#extend(text, from, text.length);
  }

  /** Ends the text, with or without a newline after its last line. */
  end(): void {
    if (this.#lineLength > 0) this.#endLine();
    this.#totalLines = this.#number - 1;
  }

  #extend(text: string, from: number, to: number): void {
    this.#lineLength += to - from;
    const remaining = MAX_LINE_CHARACTERS + 2 - this.#line.length;
    if (remaining > 0) this.#line += text.slice(from, Math.min(to, from + remaining));
  }

  #endLine(): void {
    const number = this.#number++;
    const line = `${number}\t${this.#formatLine()}`;
    this.#line = "";
    this.#lineLength = 0;
    if (number < this.firstLine || this.#isFull) return;
    this.#characters += line.length + 1;
    const exceedsLimit = this.#lines.length > 0 && this.#characters > OUTPUT_LIMIT;
    if (this.#lines.length === this.#limit || exceedsLimit) this.#isFull = true;
    else this.#lines.push(line);
  }

  #formatLine(): string {
    if (this.#lineLength <= MAX_LINE_CHARACTERS + 1) return this.#line.replace(/\r$/, "");
    const start = truncateEnd(this.#line, MAX_LINE_CHARACTERS);
    return `${start} [… line of ${formatNumber(this.#lineLength)} characters truncated …]`;
  }
}
