/**
 * Passages of a text and line numbers.
 *
 * @module
 */

/** A passage of a text. */
export interface Passage {
  /** Index of its first character. */
  readonly start: number;
  /** Index after its last character. */
  readonly end: number;
}

/** Returns the line number of an index, from 1. */
export function getLineNumber(text: string, index: number): number {
  let line = 1;
  for (
    let newline = text.indexOf("\n");
    newline !== -1 && newline < index;
    newline = text.indexOf("\n", newline + 1)
  ) {
    line++;
  }
  return line;
}
