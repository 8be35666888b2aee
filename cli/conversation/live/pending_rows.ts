/**
 * The rows that are printed with the next frame, with the marks of prompts (OSC 133) between which terminals jump.
 *
 * @module
 */

const MARKS = {
  prompt: "\x1b]133;A\x07",
  output: "\x1b]133;C\x07",
  end: "\x1b]133;D\x07",
};

/** Collects rows. */
export class PendingRows {
  #rows: string[] = [];
  /** The mark before the next row. */
  #mark = "";

  /** Adds rows of output. */
  add(rows: readonly string[]): void {
    const [first = "", ...rest] = rows;
    this.#rows.push(this.#mark + first, ...rest);
    this.#mark = "";
  }

  /** Adds the rows of a prompt, after an empty one. The next rows are its output. */
  addPrompt(rows: readonly string[]): void {
    this.add([""]);
    this.#rows.push(MARKS.prompt + rows.join("\n"));
    this.#mark = MARKS.output;
  }

  /** Ends the output of a prompt. */
  endOutput(): void {
    this.#mark = MARKS.end;
  }

  /** Returns the rows and removes them. */
  take(): string[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}
