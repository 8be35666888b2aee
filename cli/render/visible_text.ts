/**
 * Text that a user judges: a command or a change. What a terminal would not show is written as its code point instead,
 * because a shell or a program reads it all the same.
 *
 * @module
 */

/**
 * Control characters except tab and newline, invisible format characters, blank letters, and halves of characters. The
 * joiners stay: emoji and several scripts need them.
 */
const INVISIBLE =
  /(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]/gu;

/** Replaces characters that a terminal interprets or does not show, such as `ESC` by `<U+001B>`. */
export function toVisibleText(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}
