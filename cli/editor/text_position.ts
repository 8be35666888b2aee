/**
 * Positions in a text: graphemes, words and lines.
 *
 * @module
 */

import { expandTabs, getTextWidth, splitGraphemes } from "../render/text_width.ts";

/** Characters before or after a position in which its grapheme is looked for. */
const WINDOW = 64;

/** Longest text before a position in which a boundary of graphemes is looked for. */
const MAX_WINDOW = 1_024;

/** Matches a character before which a grapheme always ends. */
const BOUNDARY = /^[\n -~]/;

/** Returns the offset after the grapheme at an offset. */
export function findNextGrapheme(text: string, offset: number): number {
  for (let length = WINDOW;; length *= 4) {
    const part = text.slice(offset, offset + length);
    const [first = ""] = splitGraphemes(part);
    if (first.length < part.length || offset + length >= text.length || length >= MAX_WINDOW) {
      return offset + first.length;
    }
  }
}

/** Returns the offset of the grapheme before an offset. */
export function findPreviousGrapheme(text: string, offset: number): number {
  const start = findBoundary(text, offset);
  const last = splitGraphemes(text.slice(start, offset)).at(-1) ?? "";
  return offset - last.length;
}

/** Returns the boundary of graphemes next to an offset: the offset itself, or the start of the grapheme around it. */
export function snapToGrapheme(text: string, offset: number): number {
  const clamped = Math.min(Math.max(offset, 0), text.length);
  let start = findBoundary(text, clamped);
  for (const grapheme of splitGraphemes(text.slice(start, clamped + WINDOW))) {
    const end = start + grapheme.length;
    if (end > clamped) return start;
    start = end;
  }
  return clamped;
}

/** Returns an offset before another one at which a grapheme begins. */
function findBoundary(text: string, offset: number): number {
  const limit = Math.max(offset - MAX_WINDOW, 0);
  for (let start = offset - 1; start > limit; start--) {
    if (BOUNDARY.test(text.charAt(start))) return start;
  }
  return limit;
}

/** Returns the offset of the first character of the line at an offset. */
export function findLineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** Returns the offset of the end of the line at an offset, before its line feed. */
export function findLineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end;
}

/** The kinds of characters that words consist of. */
export type CharacterKind = "space" | "word" | "other";

const SPACE = /\s/;
const WORD_CHARACTER = /[\p{L}\p{N}\p{M}_]/u;

/** Returns the kind of the character at an offset. */
export function getCharacterKind(text: string, offset: number): CharacterKind {
  const character = String.fromCodePoint(text.codePointAt(offset) ?? 0x20);
  if (SPACE.test(character)) return "space";
  return WORD_CHARACTER.test(character) ? "word" : "other";
}

/** Returns the kind of the character before an offset. */
export function getKindBefore(text: string, offset: number): CharacterKind {
  return getCharacterKind(text, toPreviousCharacter(text, offset));
}

/** Returns the offset after the characters from an offset on whose kind matches. */
export function skipForward(
  text: string,
  offset: number,
  matches: (kind: CharacterKind) => boolean,
): number {
  let end = offset;
  while (end < text.length && matches(getCharacterKind(text, end))) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return findBoundaryAfter(text, end);
}

/** Returns the offset of the first of the characters before an offset whose kind matches. */
export function skipBackward(
  text: string,
  offset: number,
  matches: (kind: CharacterKind) => boolean,
): number {
  let start = offset;
  while (start > 0 && matches(getKindBefore(text, start))) start = toPreviousCharacter(text, start);
  return snapToGrapheme(text, start);
}

/** Returns the end of the grapheme around an offset, or the offset if it is between two graphemes. */
export function findBoundaryAfter(text: string, offset: number): number {
  const start = snapToGrapheme(text, offset);
  return start === offset ? offset : findNextGrapheme(text, start);
}

function toPreviousCharacter(text: string, offset: number): number {
  const isPair = offset >= 2 && (text.codePointAt(offset - 2) ?? 0) > 0xffff;
  return offset - (isPair ? 2 : 1);
}

/** Returns the end of the next word: other characters are skipped before it. */
export function findWordEnd(text: string, offset: number): number {
  const start = skipForward(text, offset, (kind) => kind !== "word");
  return skipForward(text, start, (kind) => kind === "word");
}

/** Returns the start of the word before an offset: other characters are skipped after it. */
export function findWordStart(text: string, offset: number): number {
  const end = skipBackward(text, offset, (kind) => kind !== "word");
  return skipBackward(text, end, (kind) => kind === "word");
}

/** Returns the start of the characters before an offset that are separated by spaces. */
export function findSpacedWordStart(text: string, offset: number): number {
  const end = skipBackward(text, offset, (kind) => kind === "space");
  return skipBackward(text, end, (kind) => kind !== "space");
}

/** Returns the column of an offset on its line; that of the end of a very long line is not exact. */
export function getColumn(text: string, offset: number): number {
  const start = findLineStart(text, offset);
  return getTextWidth(expandTabs(text.slice(start, Math.min(offset, start + MAX_LINE_PART))));
}

/** Longest part of a line that is measured, in characters. */
const MAX_LINE_PART = 4_096;

/** Returns the offset at a column of the line at an offset, or the end of a shorter line. */
export function findColumn(text: string, lineOffset: number, column: number): number {
  const start = findLineStart(text, lineOffset);
  const end = findLineEnd(text, lineOffset);
  let offset = start;
  let width = 0;
  for (const grapheme of splitGraphemes(text.slice(start, Math.min(end, start + MAX_LINE_PART)))) {
    width += getTextWidth(expandTabs(grapheme));
    if (width > column) return offset;
    offset += grapheme.length;
  }
  return offset;
}
