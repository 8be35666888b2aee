/**
 * Passages of a text and line numbers.
 *
 * @module
 */

import { countBelow } from "./line_endings.ts";

/** A passage of a text. */
export interface Passage {
  /** Index of its first character. */
  readonly start: number;
  /** Index after its last character. */
  readonly end: number;
}

/** The positions of the lines of a text. */
export class LineIndex {
  readonly #newlines: number[] = [];

  constructor(text: string) {
    for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) {
      this.#newlines.push(index);
    }
  }

  /** Returns the line number of an index, from 1. */
  getLineNumber(index: number): number {
    return countBelow(this.#newlines, index) + 1;
  }
}
