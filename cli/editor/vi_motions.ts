/**
 * The motions of vi.
 *
 * @module
 */

import {
  findLineEnd,
  findLineStart,
  findNextGrapheme,
  findPreviousGrapheme,
  getCharacterKind,
} from "./text_position.ts";

/** A motion inside a text. */
export interface ViMotion {
  /** Returns the offset after the motion. */
  readonly move: (text: string, cursor: number) => number;
  /** Whether an operator includes the character at its end. Default: `false`. */
  readonly isInclusive?: boolean;
}

const moveLeft = (text: string, cursor: number) =>
  Math.max(findPreviousGrapheme(text, cursor), findLineStart(text, cursor));

const moveRight = (text: string, cursor: number) =>
  Math.min(findNextGrapheme(text, cursor), findLineEnd(text, cursor));

/** The motions by their keys. */
export const VI_MOTIONS: ReadonlyMap<string, ViMotion> = new Map<string, ViMotion>([
  ["h", { move: moveLeft }],
  ["l", { move: moveRight }],
  [" ", { move: moveRight }],
  ["0", { move: findLineStart }],
  ["^", { move: findFirstCharacter }],
  ["$", { move: findLineEnd }],
  ["w", { move: findNextWord }],
  ["b", { move: findWordBefore }],
  ["e", { move: findEndOfWord, isInclusive: true }],
]);

/** Returns the offset of the first character of a line that is not a space. */
export function findFirstCharacter(text: string, cursor: number): number {
  const start = findLineStart(text, cursor);
  const line = text.slice(start, findLineEnd(text, cursor));
  return start + (line.length - line.trimStart().length);
}

/** Returns the offset after the characters of one kind. */
function skipKind(text: string, offset: number): number {
  const kind = getCharacterKind(text, offset);
  let end = offset;
  while (end < text.length && getCharacterKind(text, end) === kind) {
    end = findNextGrapheme(text, end);
  }
  return end;
}

function findNextWord(text: string, cursor: number): number {
  if (cursor >= text.length) return text.length;
  const isSpace = getCharacterKind(text, cursor) === "space";
  const end = isSpace ? cursor : skipKind(text, cursor);
  const isFollowedBySpace = end < text.length && getCharacterKind(text, end) === "space";
  return isFollowedBySpace ? skipKind(text, end) : end;
}

function findWordBefore(text: string, cursor: number): number {
  let start = cursor;
  const getKindBefore = () => getCharacterKind(text, findPreviousGrapheme(text, start));
  while (start > 0 && getKindBefore() === "space") start = findPreviousGrapheme(text, start);
  if (start === 0) return 0;
  const kind = getKindBefore();
  while (start > 0 && getKindBefore() === kind) start = findPreviousGrapheme(text, start);
  return start;
}

/** Returns the offset of the last character of the next word. */
function findEndOfWord(text: string, cursor: number): number {
  let start = findNextGrapheme(text, cursor);
  while (start < text.length && getCharacterKind(text, start) === "space") {
    start = findNextGrapheme(text, start);
  }
  if (start >= text.length) return findPreviousGrapheme(text, text.length);
  return findPreviousGrapheme(text, skipKind(text, start));
}
