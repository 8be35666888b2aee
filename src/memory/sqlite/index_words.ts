/**
 * The words of texts in the full-text index.
 *
 * SQLite knows fewer letters than JavaScript, and takes combining marks for parts of words. The index therefore gets the
 * words that the other stores find, with only ASCII letters and digits. The beginning of a word has the beginning of its
 * code. Two words may have the same code, so that the lines that are found have to be checked.
 *
 * @module
 */

import { splitWords } from "../store/search.ts";

/** Returns the different words of a text for the index, separated by spaces. */
export function toIndexText(text: string): string {
  return [...new Set(splitWords(text))].map(encodeWord).join(" ");
}

/** Encodes a lower-case word: each code unit that is not an ASCII letter or digit as four hexadecimal digits. */
export function encodeWord(word: string): string {
  return word.replaceAll(
    /[^a-z0-9]/g,
    (unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}
