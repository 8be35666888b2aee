import { eastAsianWidth } from "npm:get-east-asian-width@^1.7.0";

/** Control characters, combining marks, format characters except the soft hyphen, and Hangul vowels and finals. */
// deno-lint-ignore no-control-regex -- control characters have no width
const ZERO_WIDTH = /^(?:[\0-\x1f\x7f-\x9f\u1160-\u11ff]|(?!\xad)[\p{Mn}\p{Me}\p{Cf}])$/u;

/** Returns the sum of the widths of the characters of a text, in columns. */
export function unicodeWidth(text: string): number {
  return Array.from(text, getWidth).reduce((sum, width) => sum + width, 0);
}

function getWidth(character: string): number {
  return ZERO_WIDTH.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
}
