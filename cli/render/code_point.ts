/**
 * Characters as their code points.
 *
 * @module
 */

/** Formats the code point of a character, such as `<U+001B>`. */
export function formatCodePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}
