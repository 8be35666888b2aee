/**
 * Word wrapping of streamed text.
 *
 * @module
 */

import { getEndColumn, getTextWidth, isWide, splitGraphemes } from "./text_width.ts";

/** Matches line breaks, spaces, and parts of words. */
const TOKENS = /\n|[^\S\n]+|\S+/g;

/** Matches characters that may be wide, or are half of such a character. */
const WIDE_CANDIDATE = /[\u1100-\uffff]/;

/** Matches a text whose last character is incomplete. */
const SPLIT_CHARACTER = /[\ud800-\udbff]$/;

/** Matches the mark of a list item. */
const LIST_MARK = /^(?:[-*+•]|\d{1,3}[.)])$/;

/** Minimum indentation of code, in columns. */
const CODE_INDENT = 4;

/**
 * Breaks lines before the word that does not fit. Fenced and indented code is not wrapped.
 *
 * A word is buffered until it is complete. Scripts without spaces, such as Chinese, may break at every character, and
 * emoji before and after each, but never within a sequence.
 */
export class WordWrap {
  readonly #getColumns: () => number;
  /** Columns of the current line that have been returned. */
  #column = 0;
  #spaces = "";
  #word = "";
  #isFenced = false;
  #isCode = false;
  /** Indentation of the rows that continue the line: that of its text, behind the mark of a list item. */
  #indent = "";

  /** @param getColumns Returns the columns of the terminal, which may change. */
  constructor(getColumns: () => number) {
    this.#getColumns = getColumns;
  }

  /** Wraps the next chunk. Returns the text up to the last complete word. */
  push(chunk: string): string {
    let wrapped = "";
    for (const [token] of chunk.matchAll(TOKENS)) {
      if (token === "\n") wrapped += this.#endLine();
      else if (token.trim() === "") wrapped += this.#addSpaces(token);
      else wrapped += this.#addToWord(token);
    }
    return wrapped;
  }

  /** Returns the buffered text. */
  flush(): string {
    const wrapped = this.#flushWord() + this.#spaces;
    this.#spaces = "";
    return wrapped;
  }

  /** Continues the line on a new row, after another program has moved the cursor there. */
  restartRow(): void {
    this.#column = 0;
    this.#spaces = "";
  }

  #endLine(): string {
    const wrapped = `${this.#flushWord()}\n`;
    this.#spaces = "";
    this.#column = 0;
    this.#isCode = this.#isFenced;
    this.#indent = "";
    return wrapped;
  }

  #addSpaces(spaces: string): string {
    const wrapped = this.#flushWord();
    this.#spaces += spaces;
    return wrapped;
  }

  /** Adds a part of a word. Keeps the last grapheme buffered, since the next chunk may extend it. */
  #addToWord(token: string): string {
    const text = this.#word + token;
    this.#word = text;
    if (!WIDE_CANDIDATE.test(text) || SPLIT_CHARACTER.test(text)) return "";
    this.#word = "";
    let wrapped = "";
    let mayBreak = false;
    for (const grapheme of splitGraphemes(text)) {
      const isGraphemeWide = isWide(grapheme);
      if (mayBreak || isGraphemeWide) wrapped += this.#flushWord();
      this.#word += grapheme;
      mayBreak = isGraphemeWide;
    }
    return wrapped;
  }

  /** Returns the buffered word, after the spaces before it or on the next line. */
  #flushWord(): string {
    const word = this.#word;
    const spaces = this.#spaces;
    if (word === "") return "";
    this.#word = "";
    this.#spaces = "";
    if (this.#column === 0) this.#startLine(spaces, word);
    const end = getEndColumn(spaces + word, this.#column);
    if (this.#isCode || this.#column === 0 || end <= this.#getColumns()) {
      this.#column = end;
      return spaces + word;
    }
    const indent = this.#indent.length > this.#getColumns() / 2 ? "" : this.#indent;
    this.#column = indent.length + getTextWidth(word);
    return `\n${indent}${word}`;
  }

  #startLine(spaces: string, word: string): void {
    if (word.startsWith("```")) {
      this.#isFenced = !this.#isFenced;
      this.#isCode = true;
      return;
    }
    const indent = " ".repeat(getEndColumn(spaces, 0));
    if (LIST_MARK.test(word)) this.#indent = " ".repeat(indent.length + word.length + 1);
    else if (indent.length >= CODE_INDENT) this.#isCode = true;
    else this.#indent = indent;
  }
}
