/**
 * Text on standard output and lines on standard error, separated by empty lines when both appear on one terminal, with
 * a status below them that is erased before anything else is written.
 *
 * @module
 */

import type { Output } from "../host/terminal.ts";
import { toOneLine } from "./plain_text.ts";
import { getEndColumn, getTextWidth, truncateToWidth } from "./text_width.ts";

/** Options for {@linkcode Screen}. */
export interface ScreenOptions {
  /** Output for streamed text. */
  readonly text: Output;
  /** Output for lines and the status. */
  readonly lines: Output;
  /** Returns the columns of the terminal. */
  readonly getColumns: () => number;
}

/** A status, whose label is truncated before the rest. */
export interface Status {
  /** The label. */
  readonly label: string;
  /** Text behind the label, such as `· 3 s`. */
  readonly rest: string;
}

/** Moves to the beginning of the row and clears the screen below. */
export const CLEAR_BELOW = "\r\x1b[J";

/** Writes streamed text, lines and a status to their outputs, one write after the other. */
export class Screen {
  readonly #options: ScreenOptions;
  /** Whether both outputs appear on the same terminal. */
  readonly #isShared: boolean;
  #last: "nothing" | "open_text" | "text" | "line" = "nothing";
  /** Columns of the open line of text. */
  #column = 0;
  #status: { readonly isBelowText: boolean } | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ScreenOptions) {
    this.#options = options;
    const { text, lines } = options;
    this.#isShared = text === lines || (text.isTerminal && lines.isTerminal);
  }

  /** Writes a chunk of text, on a terminal after an empty line if it follows a line. */
  writeText(chunk: string): Promise<void> {
    return this.#enqueue(async () => {
      if (chunk === "") return;
      const { text, lines } = this.#options;
      await this.#eraseStatus();
      if (this.#last === "line" && this.#isShared) await lines.write("\n");
      this.#last = chunk.endsWith("\n") ? "text" : "open_text";
      const lineStart = chunk.lastIndexOf("\n") + 1;
      this.#column = getEndColumn(chunk.slice(lineStart), lineStart > 0 ? 0 : this.#column);
      await text.write(chunk);
    });
  }

  /** Writes a line feed if the text does not end with one. */
  endText(): Promise<void> {
    return this.#enqueue(() => this.#endText());
  }

  /** Writes a line, on a terminal after an empty line if it follows text. */
  writeLine(line: string): Promise<void> {
    return this.#enqueue(async () => {
      await this.#eraseStatus();
      await this.#endText();
      const gap = this.#last === "text" && this.#isShared ? "\n" : "";
      this.#last = "line";
      await this.#options.lines.write(`${gap}${line}\n`);
    });
  }

  /**
   * Shows a status of one row below the cursor, instead of the previous one. A long label leaves half of the row for the
   * rest.
   */
  showStatus({ label, rest }: Status): Promise<void> {
    return this.#enqueue(async () => {
      const columns = this.#options.getColumns();
      const isBelowText = this.#last === "open_text" && this.#isShared;
      // The cursor cannot return to a line that is full.
      if (isBelowText && this.#column >= columns) return;
      const end = ` ${toOneLine(rest)}`;
      const labelColumns = Math.max(columns - 1 - getTextWidth(end), Math.ceil(columns / 2));
      const row = truncateToWidth(
        truncateToWidth(toOneLine(label), labelColumns) + end,
        columns - 1,
      );
      const start = this.#status ? CLEAR_BELOW : isBelowText ? "\n" : "";
      this.#status = { isBelowText };
      // The cursor stays before the status, which a narrower terminal wraps.
      await this.#options.lines.write(`${start}\x1b[2m${row}\x1b[22m\r`);
    });
  }

  /** Erases the status. */
  eraseStatus(): Promise<void> {
    return this.#enqueue(() => this.#eraseStatus());
  }

  /**
   * Forgets the position of the cursor, after other programs have written to the terminal. Erases only a status, which
   * may have been shown before this was noticed.
   */
  reset(): Promise<void> {
    return this.#enqueue(async () => {
      const hadStatus = this.#status !== undefined;
      this.#status = undefined;
      this.#column = 0;
      if (this.#last === "open_text") this.#last = "text";
      if (hadStatus) await this.#options.lines.write(CLEAR_BELOW);
    });
  }

  async #endText(): Promise<void> {
    if (this.#last !== "open_text") return;
    await this.#eraseStatus();
    this.#last = "text";
    this.#column = 0;
    await this.#options.text.write("\n");
  }

  async #eraseStatus(): Promise<void> {
    if (!this.#status) return;
    const { isBelowText } = this.#status;
    this.#status = undefined;
    const toText = isBelowText ? `\x1b[A\x1b[${this.#column}C` : "";
    await this.#options.lines.write(CLEAR_BELOW + toText);
  }

  #enqueue(write: () => Promise<void>): Promise<void> {
    const writing = this.#writing.then(write);
    this.#writing = writing.catch(() => {});
    return writing;
  }
}
