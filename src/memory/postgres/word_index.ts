/**
 * The words of an entry in the index, and queries for them.
 *
 * The index has the words that `splitWords()` finds instead of those of a language: no stems, no stop words. All stores
 * therefore find the same entries.
 *
 * @module
 */

import { splitWords } from "../store/search.ts";

/** Maximum length of a word, in UTF-16 code units; Postgres allows 2,046 bytes. */
const MAX_WORD_LENGTH = 200;
/** Maximum length of all words of an entry together, in UTF-16 code units; Postgres allows 1 MB. */
const MAX_LENGTH = 250_000;
/** A lexeme, which is not a word, of an entry with words that are not in the index. The store examines such entries. */
export const INCOMPLETE = "…";

/** Returns the words of a text, separated by spaces; `null` if there are none. Postgres removes repeated ones. */
export function listWords(text: string): string | null {
  const words = splitWords(text).map((word) => word.slice(0, MAX_WORD_LENGTH));
  if (words.length === 0) return null;
  const list = words.join(" ");
  return list.length <= MAX_LENGTH ? list : truncateWords(new Set(words));
}

function truncateWords(words: Iterable<string>): string {
  const list = Array.from(words).join(" ");
  if (list.length <= MAX_LENGTH) return list;
  const mark = ` ${INCOMPLETE}`;
  return list.slice(0, list.lastIndexOf(" ", MAX_LENGTH - mark.length)) + mark;
}

/** Creates a `tsquery` for the entries that have, for each word, a word that begins with it. */
export function createWordQuery(words: readonly string[]): string {
  const prefixes = words.map((word) => `'${word.slice(0, MAX_WORD_LENGTH)}':*`);
  return `(${prefixes.join(" & ")}) | '${INCOMPLETE}'`;
}
