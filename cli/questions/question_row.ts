/**
 * The question below its details, which stays the last row of the screen.
 *
 * @module
 */

import type { Terminal } from "../host/terminal.ts";
import { getTextWidth } from "../render/text_width.ts";

/** A question with the cursor behind it. */
export class QuestionRow {
  readonly #question: string;
  readonly #terminal: Pick<Terminal, "messages" | "columns">;
  /** Columns of the terminal when the question was written, 0 after another program; `undefined` before it is. */
  #columns: number | undefined;

  constructor(question: string, terminal: Pick<Terminal, "messages" | "columns">) {
    this.#question = question;
    this.#terminal = terminal;
  }

  /** Replaces the question by lines, and writes it below them. */
  write(lines: string): Promise<void> {
    const { messages, columns } = this.#terminal;
    const text = this.#clear() + lines + this.#question;
    this.#columns = columns;
    return messages.write(text);
  }

  /** Continues on a new row, after another program has moved the cursor there. */
  restart(): void {
    this.#columns = 0;
  }

  /**
   * Writes the question again if it fits in a row. Else most terminals have wrapped it, and some have cut it off: a row
   * above it that is cleared may be one of the details.
   */
  resize(): void {
    if (getTextWidth(this.#question) < this.#terminal.columns) void this.write("");
  }

  /** Returns the text that clears the question, but no row above it. */
  #clear(): string {
    if (this.#columns === undefined) return "";
    const isResized = this.#columns !== this.#terminal.columns;
    // The cursor stays in a row that is full.
    const wraps = Math.ceil(getTextWidth(this.#question) / this.#columns) - 1;
    const up = isResized || wraps === 0 ? "" : `\x1b[${wraps}A`;
    return `${up}\r\x1b[J`;
  }
}
