/**
 * Two streams on one screen: text on standard output, lines about it on standard error, without running into each
 * other.
 *
 * @module
 */

import type { Output } from "../terminal.ts";

/** Where {@linkcode Screen} writes. */
export interface ScreenOptions {
  /** Where the text goes. */
  readonly text: Output;
  /** Where the lines go. */
  readonly lines: Output;
}

/** Keeps text that grows and lines that stand for themselves apart. */
export class Screen {
  readonly #text: Output;
  readonly #lines: Output;
  /** Whether both are seen together, so that an empty line between them is seen as one. */
  readonly #isShared: boolean;
  #last: "nothing" | "open_text" | "text" | "line" = "nothing";

  /** Makes an empty screen. */
  constructor({ text, lines }: ScreenOptions) {
    this.#text = text;
    this.#lines = lines;
    this.#isShared = text === lines || (text.isTerminal && lines.isTerminal);
  }

  /** Adds a piece of text. */
  async writeText(piece: string): Promise<void> {
    if (piece === "") return;
    if (this.#last === "line" && this.#isShared) await this.#lines.write("\n");
    this.#last = piece.endsWith("\n") ? "text" : "open_text";
    await this.#text.write(piece);
  }

  /** Ends the text that is open. */
  async endText(): Promise<void> {
    if (this.#last !== "open_text") return;
    this.#last = "text";
    await this.#text.write("\n");
  }

  /** Adds a line, after an empty one where it follows text. */
  async writeLine(line: string): Promise<void> {
    await this.endText();
    const gap = this.#last === "text" && this.#isShared ? "\n" : "";
    this.#last = "line";
    await this.#lines.write(`${gap}${line}\n`);
  }
}
