/**
 * The searches of vi for a character of the line: `f`, `F`, `t`, `T`, and their repetitions.
 *
 * @module
 */

import {
  findLineEnd,
  findLineStart,
  findNextGrapheme,
  findPreviousGrapheme,
} from "./text_position.ts";

/** A search for a character. */
export interface CharacterSearch {
  /** `f` and `t` search to the right, `F` and `T` to the left; `t` and `T` stop before the character. */
  readonly direction: "f" | "F" | "t" | "T";
  readonly character: string;
}

/** Options for {@linkcode findViCharacter}. */
export interface CharacterSearchOptions {
  /** Number of the occurrence. */
  readonly count: number;
  /** Whether the search is repeated: `t` without a count then passes the character that it has stopped before. */
  readonly isRepeated: boolean;
}

const OPPOSITES = { f: "F", F: "f", t: "T", T: "t" } as const;

/** Parses a key with its character, such as `fx`. Returns `undefined` for another key. */
export function parseCharacterSearch(key: string): CharacterSearch | undefined {
  const [, direction, character] = /^([fFtT])([^]+)$/u.exec(key) ?? [];
  if (direction === undefined || character === undefined) return undefined;
  return { direction: direction as CharacterSearch["direction"], character };
}

/** Returns the search in the other direction. */
export function reverseSearch({ direction, character }: CharacterSearch): CharacterSearch {
  return { direction: OPPOSITES[direction], character };
}

/** Whether an operator includes the character at the end of a search. */
export function isInclusiveSearch({ direction }: CharacterSearch): boolean {
  return direction === "f" || direction === "t";
}

/** Returns the offset after a search; `undefined` if the line has too few of the characters. */
export function findViCharacter(
  text: string,
  cursor: number,
  { direction, character, count, isRepeated }: CharacterSearch & CharacterSearchOptions,
): number | undefined {
  const isForward = direction === "f" || direction === "t";
  const stopsBefore = direction === "t" || direction === "T";
  const start = findLineStart(text, cursor);
  const end = findLineEnd(text, cursor);
  const skip = (offset: number) =>
    isForward ? findNextGrapheme(text, offset) : findPreviousGrapheme(text, offset);
  let found = isRepeated && stopsBefore && count === 1 ? skip(cursor) : cursor;
  for (let step = 0; step < count; step++) {
    found = isForward
      ? text.indexOf(character, skip(found))
      : found <= start
      ? -1
      : text.lastIndexOf(character, found - 1);
    if (found < start || found >= end) return undefined;
  }
  if (!stopsBefore) return found;
  return isForward ? findPreviousGrapheme(text, found) : findNextGrapheme(text, found);
}
