/**
 * Text on standard output and lines on standard error, separated by empty lines when both appear on one terminal.
 *
 * @module
 */

import type { Output } from "../host/terminal.ts";

/** Options for {@linkcode Screen}. */
export interface ScreenOptions {
  /** Output for streamed text. */
  readonly text: Output;
  /** Output for lines. */
  readonly lines: Output;
}

/** Writes streamed text and lines to their outputs. */
export class Screen {
  readonly #text: Output;
  readonly #lines: Output;
  /** Whether both outputs appear on the same terminal. */
  readonly #isShared: boolean;
  #last: "nothing" | "open_text" | "text" | "line" = "nothing";

  constructor({ text, lines }: ScreenOptions) {
    this.#text = text;
    this.#lines = lines;
    this.#isShared = text === lines || (text.isTerminal && lines.isTerminal);
  }

  /** Writes a chunk of text, on a terminal after an empty line if it follows a line. */
  async writeText(chunk: string): Promise<void> {
    if (chunk === "") return;
    if (this.#last === "line" && this.#isShared) await this.#lines.write("\n");
    this.#last = chunk.endsWith("\n") ? "text" : "open_text";
    await this.#text.write(chunk);
  }

  /** Writes a line feed if the text does not end with one. */
  async endText(): Promise<void> {
    if (this.#last !== "open_text") return;
    this.#last = "text";
    await this.#text.write("\n");
  }

  /** Writes a line, on a terminal after an empty line if it follows text. */
  async writeLine(line: string): Promise<void> {
    await this.endText();
    const gap = this.#last === "text" && this.#isShared ? "\n" : "";
    this.#last = "line";
    await this.#lines.write(`${gap}${line}\n`);
  }
}
