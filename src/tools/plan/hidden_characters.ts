/**
 * Characters that a reviewer of a plan does not see, or not where they are, and that its executor would read.
 *
 * @module
 */

/** Matches a character that is visible, no blank and not ASCII. */
const VISIBLE = String.raw`[^\p{ASCII}\p{White_Space}\p{Default_Ignorable_Code_Point}]`;

/** Matches joiners and selectors of variants behind their character, which emoji and several scripts need, and keycaps. */
const JOINER = String.raw`(?<=${VISIBLE})[\u200c\u200d\p{Variation_Selector}]` +
  String.raw`|(?<=${VISIBLE}\p{Variation_Selector})\u200d|\ufe0f\u20e3`;

/**
 * Control characters except tabs and line endings, characters that change the direction of text, invisible characters,
 * blank letters, and halves of characters.
 */
const HIDDEN = new RegExp(
  String.raw`(?![\t\n]|\r\n|${JOINER})` +
    String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]`,
  "gu",
);

/** Returns the position of the first hidden character, and its name such as `U+202E`; `undefined` if there is none. */
export function findHidden(
  text: string,
): { readonly index: number; readonly name: string } | undefined {
  const [found] = text.matchAll(HIDDEN);
  if (!found) return undefined;
  const code = found[0].codePointAt(0) ?? 0;
  return { index: found.index, name: `U+${code.toString(16).toUpperCase().padStart(4, "0")}` };
}

/** Removes all hidden characters; line breaks become `\n`. */
export function removeHidden(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(HIDDEN, "");
}
