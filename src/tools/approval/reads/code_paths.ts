/**
 * Finds the paths in code, such as the script of an interpreter.
 *
 * @module
 */

import { createProgramTest } from "../commands/interpreters.ts";

/** Whether a word has the form of a path, not of a name or of text. */
export function looksLikePath(text: string): boolean {
  return /^\S*[/.]\S*$/.test(text);
}

/** Interpreters of languages in which all texts are in quotes, unlike `%w(a b)` and `qw(a b)`. */
export const quotesTexts = createProgramTest("i?python pypy node nodejs tsx ts-node deno bun");

/** Returns the words of code that look like paths. */
export function listCodePaths(interpreter: string, code: string): readonly string[] {
  // A name with blanks, such as that of a script, is no code.
  const isQuoting = quotesTexts(interpreter) && /[(=;[{\n]/.test(code);
  const { texts, rest } = isQuoting ? splitCode(code) : { texts: code, rest: "" };
  const words = [...rest.matchAll(/(?:^|["'`\s(),;])([^"'`\s(),;]+)(?=(["'`]?))/g)];
  // Without quotes, a name such as `console.log` is that of a member of an object.
  const unquoted = words.filter(([match, word = "", end]) =>
    word.includes("/") || end || /^["'`]/.test(match)
  );
  return [...texts.split(/[\s"'`(),;]+/), ...unquoted.map(([, word = ""]) => word)]
    .filter(looksLikePath);
}

/**
 * Splits code into its texts, and the rest, with a quote in place of each text. A quote in a comment or an expression may
 * exchange them: a line with one that does not end is a text, and words of the rest that are next to a quote may be texts.
 */
function splitCode(code: string): { readonly texts: string; readonly rest: string } {
  let texts = "";
  let rest = "";
  let quote = "";
  let lineStart = 0;
  for (let index = 0; index < code.length; index++) {
    const character = code.charAt(index);
    const isLineEnd = character === "\n";
    if (quote === "") {
      rest += character;
      if (/["'`]/.test(character)) quote = readQuote(code, index);
      index += Math.max(0, quote.length - 1);
    } else if (code.startsWith(quote, index)) {
      index += quote.length - 1;
      quote = "";
      texts += " ";
    } else if (isLineEnd && /^["']$/.test(quote)) {
      quote = "";
      rest += character;
      texts += ` ${code.slice(lineStart, index)} `;
    } else {
      const length = character === "\\" ? 2 : 1;
      texts += code.slice(index, index + length);
      index += length - 1;
    }
    if (isLineEnd && quote === "") lineStart = index + 1;
  }
  return { texts: quote === "" ? texts : `${texts} ${code.slice(lineStart)}`, rest };
}

/** Returns the quote with which a text begins: three of Python, whose text may have several lines, or one. */
function readQuote(code: string, index: number): string {
  const quote = code.charAt(index);
  return quote !== "`" && code.startsWith(quote.repeat(3), index) ? quote.repeat(3) : quote;
}
