/**
 * Highlighting of code, line by line.
 *
 * @module
 */

import type { Span } from "../line/line.ts";

/** Highlights the lines of one text, in order. Incomplete and invalid code is highlighted as far as it can be read. */
export interface LineHighlighter {
  /** Highlights the next line, given without its line break. The spans together contain its text unchanged. */
  next(line: string): Span[];
  /** Highlights the beginning of the next line without consuming it, such as a line that is still arriving. */
  peek(line: string): Span[];
}

/** Creates highlighters by language. */
export interface Highlighter {
  /**
   * Returns a highlighter for a text, by the name of its language in a fence, such as `ts` or `python`; `undefined` if
   * the language is unknown.
   */
  start(language: string): LineHighlighter | undefined;
}
