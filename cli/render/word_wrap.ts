/**
 * Text that comes in pieces, broken into lines between words.
 *
 * @module
 */

import { getTextWidth, isWide } from "./text_width.ts";

/** Line breaks, blanks, and pieces of words. */
const TOKENS = /\n|[^\S\n]+|\S+/g;

/** Indented code begins with this much. */
const CODE_INDENT = 4;

/**
 * Breaks lines before the word that would not fit. Code, fenced or indented, is left as it is.
 *
 * A word is held back until it is whole. Scripts without blanks may break at every character.
 */
export class WordWrap {
  readonly #columns: number;
  /** What has been shown of the line. */
  #column = 0;
  #blanks = "";
  #word = "";
  #isFenced = false;
  #isCode = false;

  /** Makes a wrap for lines of so many columns. */
  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Takes the next piece; gives what can be shown by now. */
  push(piece: string): string {
    let shown = "";
    for (const [token] of piece.matchAll(TOKENS)) {
      if (token === "\n") shown += this.#endLine();
      else if (token.trim() === "") shown += this.#addBlanks(token);
      else shown += this.#addToWord(token);
    }
    return shown;
  }

  /** Gives what has been held back. */
  flush(): string {
    const shown = this.#flushWord() + this.#blanks;
    this.#blanks = "";
    return shown;
  }

  #endLine(): string {
    const shown = `${this.#flushWord()}\n`;
    this.#blanks = "";
    this.#column = 0;
    this.#isCode = this.#isFenced;
    return shown;
  }

  #addBlanks(blanks: string): string {
    const shown = this.#flushWord();
    this.#blanks += blanks;
    return shown;
  }

  #addToWord(token: string): string {
    let shown = "";
    for (const character of token) {
      const mayBreak = isWide(character);
      if (mayBreak) shown += this.#flushWord();
      this.#word += character;
      if (mayBreak) shown += this.#flushWord();
    }
    return shown;
  }

  /** Places the word that is held back: behind the blanks before it, or at the beginning of a line. */
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
