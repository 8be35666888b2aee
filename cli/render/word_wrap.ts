/**
 * Word wrapping of streamed text.
 *
 * @module
 */

import { getTextWidth, isWide } from "./text_width.ts";

/** Line breaks, blanks, and parts of words. */
const TOKENS = /\n|[^\S\n]+|\S+/g;

/** Columns of indentation that make a line code. */
const CODE_INDENT = 4;

/**
 * Breaks lines before the word that does not fit. Fenced and indented code is not wrapped.
 *
 * A word is buffered until it is complete. Scripts without blanks may break at every character.
 */
export class WordWrap {
  readonly #columns: number;
  /** Columns of the line that have been returned. */
  #column = 0;
  #blanks = "";
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
      else if (token.trim() === "") wrapped += this.#addBlanks(token);
      else wrapped += this.#addToWord(token);
    }
    return wrapped;
  }

  /** Returns the buffered text. */
  flush(): string {
    const wrapped = this.#flushWord() + this.#blanks;
    this.#blanks = "";
    return wrapped;
  }

  #endLine(): string {
    const wrapped = `${this.#flushWord()}\n`;
    this.#blanks = "";
    this.#column = 0;
    this.#isCode = this.#isFenced;
    return wrapped;
  }

  #addBlanks(blanks: string): string {
    const wrapped = this.#flushWord();
    this.#blanks += blanks;
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

  /** Returns the buffered word, after the blanks before it or on the next line. */
  #flushWord(): string {
    const word = this.#word;
    const blanks = this.#blanks;
    if (word === "") return "";
    this.#word = "";
    this.#blanks = "";
    if (this.#column === 0) this.#startLine(blanks, word);
    const width = blanks.length + getTextWidth(word);
    if (this.#isCode || this.#column === 0 || this.#column + width <= this.#columns) {
      this.#column += width;
      return blanks + word;
    }
    this.#column = width - blanks.length;
    return `\n${word}`;
  }

  #startLine(blanks: string, word: string): void {
    if (word.startsWith("```")) {
      this.#isFenced = !this.#isFenced;
      this.#isCode = true;
    } else if (blanks.replaceAll("\t", "    ").length >= CODE_INDENT) this.#isCode = true;
  }
}
