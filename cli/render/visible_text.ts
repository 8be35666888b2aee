/**
 * Text that a user judges: a command or a change. What a terminal would not show is written as its code point instead,
 * because a shell or a program reads it all the same.
 *
 * @module
 */

import { formatCodePoint } from "./code_point.ts";

/** Matches a character that is visible and not ASCII. */
const VISIBLE = String.raw`[^\p{ASCII}\p{Default_Ignorable_Code_Point}]`;

/** Matches joiners and selectors of variants behind their character, which emoji and several scripts need, and keycaps. */
const JOINER = String.raw`(?<=${VISIBLE})[\u200c\u200d\p{Variation_Selector}]` +
  String.raw`|(?<=${VISIBLE}\p{Variation_Selector})\u200d|\ufe0f\u20e3`;

/** Control characters except tab and newline, invisible characters, blank letters, and halves of characters. */
const INVISIBLE = new RegExp(
  String.raw`(?![\t\n]|${JOINER})` +
    String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]`,
  "gu",
);

/** Replaces characters that a terminal interprets or does not show, such as `ESC` by `<U+001B>`. */
export function toVisibleText(text: string): string {
  return text.replace(INVISIBLE, formatCodePoint);
}
