/**
 * The text objects of vi: words, quoted texts, and texts in brackets.
 *
 * @module
 */

import type { TextRange } from "./edit_text.ts";
import { BRACKETS, findBracketAround, findMatchingBracket } from "./matching_bracket.ts";
import {
  type CharacterKind,
  findLineEnd,
  findLineStart,
  getCharacterKind,
  getKindBefore,
  skipBackward,
  skipForward,
} from "./text_position.ts";

/** Other keys of brackets. */
const BRACKET_KEYS: ReadonlyMap<string, string> = new Map([["b", "("], ["B", "{"]]);

/** Options for {@linkcode findViObject}. */
export interface ViObjectOptions {
  /** `iw` is the word, and `aw` the word with the spaces behind it. */
  readonly keys: string;
  /** Number of words, or of the pair of brackets; 1 for the innermost one. */
  readonly count: number;
}

/** Returns the range of a text object at the cursor. Returns `undefined` if there is none, and for other keys. */
export function findViObject(
  text: string,
  cursor: number,
  { keys, count }: ViObjectOptions,
): TextRange | undefined {
  const [reach, key = ""] = Array.from(keys);
  const hasEnds = reach === "a";
  if (!hasEnds && reach !== "i") return undefined;
  if (key === "w" || key === "W") {
    return findWords(text, cursor, { isSpaced: key === "W", hasEnds, count });
  }
  if (`"'\``.includes(key)) return findQuoted(text, cursor, { quote: key, hasEnds });
  return findBracketed(text, cursor, { bracket: BRACKET_KEYS.get(key) ?? key, hasEnds, count });
}

interface WordOptions {
  readonly isSpaced: boolean;
  readonly hasEnds: boolean;
  readonly count: number;
}

/** Returns the characters of one kind around the cursor, and those of other kinds behind it, inside of its line. */
function findWords(
  text: string,
  cursor: number,
  { isSpaced, hasEnds, count }: WordOptions,
): TextRange | undefined {
  const line = { start: findLineStart(text, cursor), end: findLineEnd(text, cursor) };
  if (line.start === line.end) return hasEnds ? undefined : line;
  const toKind = (kind: CharacterKind) => isSpaced && kind !== "space" ? "word" : kind;
  const kind = toKind(getCharacterKind(text, cursor));
  const start = Math.max(
    skipBackward(text, cursor, (other) => toKind(other) === kind),
    line.start,
  );
  const skip = (offset: number, skipped: CharacterKind) =>
    Math.min(skipForward(text, offset, (other) => toKind(other) === skipped), line.end);
  let end = start;
  for (let word = 0; word < count && end < line.end; word++) {
    // The spaces between two words do not count.
    if (hasEnds && (kind === "space" || word > 0)) end = skip(end, "space");
    if (end < line.end) end = skip(end, toKind(getCharacterKind(text, end)));
  }
  if (!hasEnds || kind === "space") return { start, end };
  const spaced = addSpaces(text, { start, end }, line);
  // The spaces before the first word of a line remain.
  return spaced.start === line.start ? { start, end: spaced.end } : spaced;
}

/** Adds the spaces behind a range, or else those before it. */
function addSpaces(text: string, { start, end }: TextRange, line: TextRange): TextRange {
  const isSpace = (kind: string) => kind === "space";
  const spacesEnd = Math.min(skipForward(text, end, isSpace), line.end);
  if (spacesEnd > end) return { start, end: spacesEnd };
  const isSpaced = start > line.start && getKindBefore(text, start) === "space";
  return {
    start: isSpaced ? Math.max(skipBackward(text, start, isSpace), line.start) : start,
    end,
  };
}

/** Returns the quoted text at the cursor, or the next one of its line. */
function findQuoted(
  text: string,
  cursor: number,
  { quote, hasEnds }: { readonly quote: string; readonly hasEnds: boolean },
): TextRange | undefined {
  const line = { start: findLineStart(text, cursor), end: findLineEnd(text, cursor) };
  const quotes = Array.from(
    text.slice(line.start, line.end).matchAll(/\\.|["'`]/gu),
    (match) => ({ character: match[0], offset: line.start + match.index }),
  ).filter(({ character }) => character === quote);
  for (let index = 0; index + 1 < quotes.length; index += 2) {
    const [first, last] = [quotes[index]?.offset, quotes[index + 1]?.offset];
    if (first === undefined || last === undefined || last < cursor) continue;
    return hasEnds
      ? addSpaces(text, { start: first, end: last + 1 }, line)
      : { start: first + 1, end: last };
  }
  return undefined;
}

/** Returns the text in the brackets around the cursor, which can be on other lines. */
function findBracketed(
  text: string,
  cursor: number,
  { bracket, hasEnds, count }: {
    readonly bracket: string;
    readonly hasEnds: boolean;
    readonly count: number;
  },
): TextRange | undefined {
  const pair = BRACKETS.find(({ open, close }) => open === bracket || close === bracket);
  const first = pair && findBracketAround(text, cursor, { ...pair, count });
  const last = first === undefined ? undefined : findMatchingBracket(text, first);
  if (first === undefined || last === undefined) return undefined;
  return hasEnds ? { start: first, end: last + 1 } : { start: first + 1, end: last };
}
