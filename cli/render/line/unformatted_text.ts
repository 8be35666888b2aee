/**
 * Text that is shown as it is, where the renderer of its format cannot be loaded.
 *
 * @module
 */

import { toPlainText } from "../plain_text.ts";
import { expandTabs } from "../text_width.ts";
import type { Line } from "./line.ts";
import type { TextRenderer, TextRendererOptions } from "./text_renderer.ts";
import { wrapLine } from "./wrap_line.ts";

/** Options for {@linkcode UnformattedText}. */
export interface UnformattedTextOptions extends Omit<TextRendererOptions, "display"> {
  /** Returns whether the text is hidden; may change at any time. Default: never. */
  readonly isHidden?: () => boolean;
}

/** Renders the lines of a text as they were written. */
export class UnformattedText implements TextRenderer {
  readonly #options: UnformattedTextOptions;
  /** Written before the next line, if that is the first one. */
  #label: Line;
  #rest = "";

  constructor(options: UnformattedTextOptions) {
    this.#options = options;
    this.#label = options.label ?? [];
  }

  /** Adds a chunk. Returns the lines that it completes. */
  push(chunk: string): Line[] {
    const texts = `${this.#rest}${chunk}`.split("\n");
    this.#rest = texts.pop() ?? "";
    return texts.flatMap((text) => this.#complete(text));
  }

  /** The line that is still arriving. */
  get open(): readonly Line[] {
    return this.#rest === "" ? [] : this.#wrap(this.#rest);
  }

  /** Returns nothing: lines are not held back. */
  poll(): Line[] {
    return [];
  }

  /** Ends the text. Returns its last line. */
  end(): Line[] {
    const rest = this.#rest;
    this.#rest = "";
    return rest === "" ? [] : this.#complete(rest);
  }

  #complete(text: string): Line[] {
    const lines = this.#wrap(text);
    this.#label = [];
    return lines;
  }

  #wrap(text: string): Line[] {
    const { getColumns, indent = [], style, isHidden } = this.#options;
    if (isHidden?.()) return [];
    return wrapLine([{ text: expandTabs(toPlainText(text)), ...style }], {
      columns: getColumns(),
      first: [...indent, ...this.#label],
      next: indent,
    });
  }
}
