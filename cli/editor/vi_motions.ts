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
  getKindBefore,
  skipBackward,
  skipForward,
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
  ["W", { move: findNextSpacedWord }],
  ["B", { move: findSpacedWordBefore }],
  ["E", { move: findEndOfSpacedWord, isInclusive: true }],
]);

/** Returns the offset of the first character of a line that is not a space. */
export function findFirstCharacter(text: string, cursor: number): number {
  const start = findLineStart(text, cursor);
  const line = text.slice(start, findLineEnd(text, cursor));
  return start + (line.length - line.trimStart().length);
}

/** Returns the offset after the characters that are of the same kind as the one at an offset. */
function skipKind(text: string, offset: number): number {
  const kind = getCharacterKind(text, offset);
  return skipForward(text, offset, (other) => other === kind);
}

/** Returns the offset after the spaces from an offset on, or that of an empty line in them, which is a word. */
function skipSpaces(text: string, offset: number): number {
  let end = offset;
  while (end < text.length && getCharacterKind(text, end) === "space") {
    if (isEmptyLine(text, end)) return end;
    end++;
  }
  return end;
}

/** Returns the offset before the spaces that end at an offset, or that of an empty line in them. */
function skipSpacesBackward(text: string, offset: number): number {
  let start = offset;
  while (start > 0 && getKindBefore(text, start) === "space") {
    start--;
    if (isEmptyLine(text, start)) return start;
  }
  return start;
}

function isEmptyLine(text: string, offset: number): boolean {
  return text.charAt(offset) === "\n" && findLineStart(text, offset) === offset;
}

function findNextWord(text: string, cursor: number): number {
  if (cursor >= text.length) return text.length;
  const isSpace = getCharacterKind(text, cursor) === "space";
  return skipSpaces(text, isSpace ? cursor + 1 : skipKind(text, cursor));
}

function findWordBefore(text: string, cursor: number): number {
  const end = skipSpacesBackward(text, cursor);
  if (end === 0 || isEmptyLine(text, end)) return end;
  const kind = getKindBefore(text, end);
  return skipBackward(text, end, (other) => other === kind);
}

function findSpacedWordBefore(text: string, cursor: number): number {
  const end = skipSpacesBackward(text, cursor);
  if (isEmptyLine(text, end)) return end;
  return skipBackward(text, end, (kind) => kind !== "space");
}

/** Returns the offset of the last character of the word at an offset, which can be the offset itself. */
export function findEndOfThisWord(
  text: string,
  cursor: number,
  { isSpaced }: { readonly isSpaced: boolean },
): number {
  const end = isSpaced
    ? skipForward(text, cursor, (kind) => kind !== "space")
    : skipKind(text, cursor);
  return findPreviousGrapheme(text, end);
}

/** Returns the offset of the last character of the next word. */
function findEndOfWord(text: string, cursor: number): number {
  const start = skipForward(text, findNextGrapheme(text, cursor), (kind) => kind === "space");
  return findPreviousGrapheme(text, start >= text.length ? text.length : skipKind(text, start));
}

function findNextSpacedWord(text: string, cursor: number): number {
  if (cursor >= text.length) return text.length;
  const isSpace = getCharacterKind(text, cursor) === "space";
  const end = skipForward(text, cursor, (kind) => kind !== "space");
  return skipSpaces(text, isSpace ? cursor + 1 : end);
}

/** Returns the offset of the last character of the next word that is separated by spaces. */
function findEndOfSpacedWord(text: string, cursor: number): number {
  const start = skipForward(text, findNextGrapheme(text, cursor), (kind) => kind === "space");
  return findPreviousGrapheme(text, skipForward(text, start, (kind) => kind !== "space"));
}
