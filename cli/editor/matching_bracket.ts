/**
 * Pairs of brackets in a text.
 *
 * @module
 */

/** The two brackets of a pair. */
export interface BracketPair {
  readonly open: string;
  readonly close: string;
}

/** The brackets that belong together. */
export const BRACKETS: readonly BracketPair[] = [
  { open: "(", close: ")" },
  { open: "[", close: "]" },
  { open: "{", close: "}" },
  { open: "<", close: ">" },
];

/** Returns the offset of the bracket that belongs to the one at an offset; `undefined` if there is none. */
export function findMatchingBracket(text: string, offset: number): number | undefined {
  const bracket = text.charAt(offset);
  const pair = BRACKETS.find(({ open, close }) => open === bracket || close === bracket);
  if (!pair) return undefined;
  const step = bracket === pair.open ? 1 : -1;
  let depth = 0;
  for (let index = offset; index >= 0 && index < text.length; index += step) {
    const character = text.charAt(index);
    if (character === pair.open) depth += step;
    else if (character === pair.close) depth -= step;
    if (depth === 0) return index;
  }
  return undefined;
}

/**
 * Returns the offset of the opening bracket of the pair around an offset, or at it; `undefined` if there is none.
 *
 * @param count Number of the pair, 1 for the innermost one.
 */
export function findBracketAround(
  text: string,
  offset: number,
  { open, close, count }: BracketPair & { readonly count: number },
): number | undefined {
  let depth = count - 1;
  for (let index = offset; index >= 0; index--) {
    const character = text.charAt(index);
    if (character === open && depth-- === 0) return index;
    if (character === close && index !== offset) depth++;
  }
  return undefined;
}
