/**
 * Rendering of a paragraph while it arrives.
 *
 * @module
 */

import type { Line, SpanStyle } from "../line/line.ts";
import type { RowWriter } from "../line/row_writer.ts";
import { splitGraphemes } from "../text_width.ts";
import type { Display } from "../theme/display.ts";
import { InlineScanner } from "./inline_scanner.ts";
import { renderInline } from "./inline_spans.ts";

/**
 * Characters after which open emphasis, code or a link is shown as text, so that a delimiter without a counterpart delays
 * the text by a few rows only.
 */
const MAX_PENDING = 1_000;

/** Characters before a division without a space that are searched for the last grapheme. */
const GRAPHEME_WINDOW = 64;

/** Options for {@linkcode InlineFlow}. */
export interface InlineFlowOptions {
  /** Breaks the text into rows. */
  readonly writer: RowWriter;
  /** How the output shows lines. */
  readonly display: Display;
  /** Style of the text. */
  readonly style?: SpanStyle | undefined;
}

/**
 * Writes the rows of a paragraph as soon as no later text can change them. Text is parsed in segments that end at spaces,
 * or between ideographs, outside of all markup, so that every character is parsed once.
 */
export class InlineFlow {
  readonly #options: InlineFlowOptions;
  #scanner = new InlineScanner();
  /** Text that has not been written. */
  #pending = "";
  /** Number of pending characters that have been read. */
  #read = 0;
  /** Number of pending characters that can be written. */
  #complete = 0;
  /** End of the last space among the pending characters. */
  #spaceEnd = 0;

  constructor(options: InlineFlowOptions) {
    this.#options = options;
  }

  /** Adds text; a line feed is a line break. Returns the rows that are complete. */
  push(text: string): Line[] {
    this.#pending += text;
    const rows: Line[] = [];
    while (this.#read < this.#pending.length) {
      const character = this.#pending[this.#read++] ?? "";
      const division = this.#scanner.read(character);
      if (/\s/.test(character)) this.#spaceEnd = this.#read;
      if (division) this.#complete = division === "behind" ? this.#read : this.#read - 1;
      else if (this.#read - this.#complete >= MAX_PENDING) rows.push(...this.#divide());
    }
    if (this.#complete > 0) rows.push(...this.#write(this.#complete));
    return rows;
  }

  /** Returns the rows that may still change, with text behind them. Markup that is open is shown as if it ended here. */
  preview(rest = ""): Line[] {
    const text = (this.#pending + rest).replace(/[\ud800-\udbff]$/, "").replace(
      /(^|\s)[*_~`]+$/,
      "$1",
    );
    const completion = this.#scanner.complete();
    return this.#options.writer.preview(
      this.#render(completion === "" ? text : text.trimEnd() + completion),
    );
  }

  /** Ends the paragraph. Returns the remaining rows. */
  end(): Line[] {
    const { writer } = this.#options;
    return [...writer.write(this.#render(this.#pending.trimEnd())), ...writer.end()];
  }

  /** Writes text with open markup up to the last space, or up to the last grapheme of a text without spaces. */
  #divide(): Line[] {
    const end = this.#spaceEnd > this.#complete ? this.#spaceEnd : this.#findGraphemeStart();
    const rows = this.#write(end);
    this.#scanner = new InlineScanner();
    this.#read = 0;
    return rows;
  }

  #findGraphemeStart(): number {
    const window = this.#pending.slice(this.#read - GRAPHEME_WINDOW, this.#read);
    const last = splitGraphemes(window).at(-1) ?? "";
    return last.length < window.length ? this.#read - last.length : this.#read;
  }

  #write(end: number): Line[] {
    const rows = this.#options.writer.write(this.#render(this.#pending.slice(0, end)));
    this.#pending = this.#pending.slice(end);
    this.#read -= end;
    this.#complete = 0;
    this.#spaceEnd = 0;
    return rows;
  }

  #render(text: string): ReturnType<typeof renderInline> {
    return renderInline(text, this.#options);
  }
}
