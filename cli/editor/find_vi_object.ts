/**
 * The text objects of vi: words, quoted texts, and texts in brackets.
 *
 * @module
 */

import type { TextRange } from "./edit_text.ts";
import { BRACKETS, findBracketAround, findMatchingBracket } from "./matching_bracket.ts";
import {
  findLineEnd,
  findLineStart,
  getCharacterKind,
  getKindBefore,
  skipBackward,
  skipForward,
} from "./text_position.ts";

/** Other keys of brackets. */
const BRACKET_KEYS: ReadonlyMap<string, string> = new Map([["b", "("], ["B", "{"]]);

/**
 * Returns the range of a text object at the cursor by its keys: `iw` is the word, and `aw` the word with the spaces behind
 * it. Returns `undefined` if there is none, and for other keys.
 */
export function findViObject(text: string, cursor: number, keys: string): TextRange | undefined {
  const [reach, key = ""] = Array.from(keys);
  const hasEnds = reach === "a";
  if (!hasEnds && reach !== "i") return undefined;
  if (key === "w" || key === "W") return findWord(text, cursor, { isSpaced: key === "W", hasEnds });
  if (`"'\``.includes(key)) return findQuoted(text, cursor, { quote: key, hasEnds });
  return findBracketed(text, cursor, { bracket: BRACKET_KEYS.get(key) ?? key, hasEnds });
}

/** Returns the characters of one kind around the cursor, inside of its line. */
function findWord(
  text: string,
  cursor: number,
  { isSpaced, hasEnds }: { readonly isSpaced: boolean; readonly hasEnds: boolean },
): TextRange | undefined {
  const line = { start: findLineStart(text, cursor), end: findLineEnd(text, cursor) };
  if (line.start === line.end) return undefined;
  const toKind = (kind: ReturnType<typeof getCharacterKind>) =>
    isSpaced && kind !== "space" ? "word" : kind;
  const kind = toKind(getCharacterKind(text, cursor));
  const isSame = (other: Parameters<typeof toKind>[0]) => toKind(other) === kind;
  const range = {
    start: Math.max(skipBackward(text, cursor, isSame), line.start),
    end: Math.min(skipForward(text, cursor, isSame), line.end),
  };
  if (!hasEnds) return range;
  if (kind !== "space") return addSpaces(text, range, line);
  // The spaces belong to the word behind them.
  const next = toKind(getCharacterKind(text, range.end));
  const end = skipForward(text, range.end, (other) => toKind(other) === next);
  return { start: range.start, end: Math.min(end, line.end) };
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
  { bracket, hasEnds }: { readonly bracket: string; readonly hasEnds: boolean },
): TextRange | undefined {
  const pair = BRACKETS.find(({ open, close }) => open === bracket || close === bracket);
  const first = pair && findBracketAround(text, cursor, pair);
  const last = first === undefined ? undefined : findMatchingBracket(text, first);
  if (first === undefined || last === undefined) return undefined;
  return hasEnds ? { start: first, end: last + 1 } : { start: first + 1, end: last };
}
