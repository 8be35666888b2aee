/**
 * Word wrapping of streamed text.
 *
 * @module
 */

import { getTextWidth, isWide } from "./text_width.ts";

/** Matches line breaks, spaces, and parts of words. */
const TOKENS = /\n|[^\S\n]+|\S+/g;

/** Minimum indentation of code, in columns. */
const CODE_INDENT = 4;

/**
 * Breaks lines before the word that does not fit. Fenced and indented code is not wrapped.
 *
 * A word is buffered until it is complete. Scripts without spaces, such as Chinese, may break at every character.
 */
export class WordWrap {
  readonly #columns: number;
  /** Columns of the current line that have been returned. */
  #column = 0;
  #spaces = "";
  #word = "";
  #isFenced = false;
  #isCode = false;

  constructor(columns: number) {
    this.#columns = columns;
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

  #endLine(): string {
    const wrapped = `${this.#flushWord()}\n`;
    this.#spaces = "";
    this.#column = 0;
    this.#isCode = this.#isFenced;
    return wrapped;
  }

  #addSpaces(spaces: string): string {
    const wrapped = this.#flushWord();
    this.#spaces += spaces;
    return wrapped;
  }

  #addToWord(token: string): string {
    let wrapped = "";
    for (const character of token) {
      const mayBreak = isWide(character);
      if (mayBreak) wrapped += this.#flushWord();
      this.#word += character;
      if (mayBreak) wrapped += this.#flushWord();
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
    const width = spaces.length + getTextWidth(word);
    if (this.#isCode || this.#column === 0 || this.#column + width <= this.#columns) {
      this.#column += width;
      return spaces + word;
    }
    this.#column = width - spaces.length;
    return `\n${word}`;
  }

  #startLine(spaces: string, word: string): void {
    if (word.startsWith("```")) {
      this.#isFenced = !this.#isFenced;
      this.#isCode = true;
    } else if (spaces.replaceAll("\t", "    ").length >= CODE_INDENT) this.#isCode = true;
  }
}
