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
  findSpacedWordStart,
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
  ["B", { move: findSpacedWordStart }],
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

function findNextWord(text: string, cursor: number): number {
  if (cursor >= text.length) return text.length;
  const isSpace = getCharacterKind(text, cursor) === "space";
  const end = isSpace ? cursor : skipKind(text, cursor);
  return skipForward(text, end, (kind) => kind === "space");
}

function findWordBefore(text: string, cursor: number): number {
  const end = skipBackward(text, cursor, (kind) => kind === "space");
  if (end === 0) return 0;
  const kind = getKindBefore(text, end);
  return skipBackward(text, end, (other) => other === kind);
}

/** Returns the offset of the last character of the next word. */
function findEndOfWord(text: string, cursor: number): number {
  const start = skipForward(text, findNextGrapheme(text, cursor), (kind) => kind === "space");
  return findPreviousGrapheme(text, start >= text.length ? text.length : skipKind(text, start));
}

function findNextSpacedWord(text: string, cursor: number): number {
  const end = skipForward(text, cursor, (kind) => kind !== "space");
  return skipForward(text, end, (kind) => kind === "space");
}

/** Returns the offset of the last character of the next word that is separated by spaces. */
function findEndOfSpacedWord(text: string, cursor: number): number {
  const start = skipForward(text, findNextGrapheme(text, cursor), (kind) => kind === "space");
  return findPreviousGrapheme(text, skipForward(text, start, (kind) => kind !== "space"));
}
