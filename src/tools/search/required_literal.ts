/**
 * Finds a text that each match of a pattern contains, so that the other lines need not be matched.
 *
 * @module
 */

import { findByte } from "./find_byte.ts";
import type { SearchPattern } from "./search_pattern.ts";

/** Shorter texts occur in too many lines. */
const MIN_CHARACTERS = 3;

/** Characters of source code and prose, the most frequent first. Others are rare. */
const FREQUENT = " etaonirslcdpumfhgybv.,()=\"';:-/wkxETSCARINDOLPMU0123";

/** Matches an escape, a class, a repetition, or one character. */
const TOKENS =
  /\\(?:[pPxu]\{[^}]*\}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[\s\S])|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/g;

/** Matches an ASCII character that has no special meaning, also after `\`. */
const LITERAL = /^(?:[\w ,;:=<>"'`@#%&!~\/-]|\\[!-\/:-@[-`{-~])$/;

/**
 * Returns a text that each match contains, the one with the rarest character; `undefined` if there is none, or the
 * pattern is not simple enough to know it: case is ignored, matches span lines, or it has alternatives, flags, nested
 * classes or references.
 */
export function findRequiredLiteral(
  { source, ignoreCase, multiline }: SearchPattern,
): string | undefined {
  if (ignoreCase || multiline || /\(\?|\[[^\]]*\[|\\[Az1-9k<>]|\\b\{/.test(source)) {
    return undefined;
  }
  const texts: string[] = [];
  let text = "";
  let depth = 0;
  const endText = () => {
    texts.push(text);
    text = "";
  };
  for (const [token] of source.matchAll(TOKENS)) {
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (token === "|" && depth === 0) return undefined;
    if (depth === 0 && LITERAL.test(token)) {
      text += token.slice(-1);
      continue;
    }
    // The character before these may be missing.
    if (/^[*?{]/.test(token)) text = text.slice(0, -1);
    endText();
  }
  endText();
  const candidates = texts.filter(({ length }) => length >= MIN_CHARACTERS);
  return candidates.toSorted((a, b) => getRarity(b) - getRarity(a) || b.length - a.length)[0];
}

function getRarity(text: string): number {
  return getCharacterRarity(text.charAt(findRarestIndex(text)));
}

function getCharacterRarity(character: string): number {
  const index = FREQUENT.indexOf(character);
  return index === -1 ? FREQUENT.length : index;
}

/** Returns the index of the character of a text that is rarest in files. */
function findRarestIndex(text: string): number {
  const rarities = Array.from(text, getCharacterRarity);
  return rarities.indexOf(Math.max(...rarities));
}

/** Number of places at which a text is compared, before its rarest character counts as frequent in a file. */
const MAX_COMPARISONS = 500;

/** Whether a UTF-8 text contains another one, of ASCII characters. */
export function containsText(bytes: Uint8Array, text: string): boolean {
  const offset = findRarestIndex(text);
  const wanted = text.charCodeAt(offset);
  let index = offset - 1;
  for (let comparison = 0; comparison < MAX_COMPARISONS; comparison++) {
    index = findByte(bytes, wanted, index + 1);
    if (index === -1) return false;
    if (hasTextAt(bytes, { text, start: index - offset })) return true;
  }
  return new TextDecoder().decode(bytes.subarray(index + 1 - offset)).includes(text);
}

function hasTextAt(
  bytes: Uint8Array,
  { text, start }: { readonly text: string; readonly start: number },
): boolean {
  for (let index = 0; index < text.length; index++) {
    if (bytes[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
