/**
 * The files and directories that a call of `rg`, `ag` or `grep` searches, as its text names them.
 *
 * @module
 */

import { expandBraces } from "../../../core/ignore/glob.ts";
import type { ShellWord } from "../../kit/simple_command.ts";

/**
 * Letters of options with a value. Those of `ag` are unknown: a value counts as an operand, which is safe, whereas an operand
 * that counts as a value would be missing.
 */
const VALUED: Readonly<Record<string, string>> = { rg: "ABCEMTdefgjmrt", ag: "", grep: "ABCDdefm" };

/** Letters of options that `rg` and `grep` understand like the long ones of `NUMBERED`. */
const NUMBERED_LETTERS = "ABCm";

/** Long options with a number as their value, without which some versions of `grep` take another word for an operand. */
const NUMBERED = /^--(?:(?:after-|before-)?context|max-count|max-depth)$/;

/** Long options whose value is the next word. A program that does not know one of them fails. */
const LONG_VALUED =
  /^--(?:regexp|file|i?glob|type|type-not|include|exclude|exclude-dir|encoding|replace|sort|sortr|threads)$/;

/** Long options with the expression, also abbreviated ones, or for a list of files, which needs none. */
const EXPRESSION = /^--(?:rege?x?p?|files?)(?:=|$)/;

const NO_WORD: ShellWord = { text: "", literal: true };

/** Lists what a program may search: its operands without the expression. */
export function listSearchOperands(
  program: string,
  args: readonly ShellWord[],
): readonly ShellWord[] {
  const valued = VALUED[program] ?? VALUED["grep"] ?? "";
  const words = args.flatMap(expandWord);
  const operands: ShellWord[] = [];
  let hasExpression = false;
  for (let index = 0; index < words.length; index++) {
    const { [index]: word, [index + 1]: { text: next } = NO_WORD } = words;
    if (!word) break;
    const { text } = word;
    if (text === "--") {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (text.startsWith("--")) {
      hasExpression ||= EXPRESSION.test(text);
      if (LONG_VALUED.test(text) || (NUMBERED.test(text) && isNumber(next))) index++;
    } else if (/^-./.test(text)) {
      const at = [...text].findIndex((letter) => valued.includes(letter));
      const letter = text[at] ?? "";
      hasExpression ||= /^[ef]$/.test(letter);
      const isNext = at === text.length - 1 &&
        (!NUMBERED_LETTERS.includes(letter) || isNumber(next));
      if (isNext) index++;
    } else if (text !== "") {
      operands.push(word);
    }
  }
  return hasExpression ? operands : operands.slice(1);
}

/** Returns the words that the shell makes of one with braces; of a range, a pattern. */
export function expandWord(word: ShellWord): readonly ShellWord[] {
  if (word.literal) return [word];
  const text = word.text.replaceAll("${HOME}", "$HOME").replace(/\{[^{},]*\.\.[^{},]*\}/g, "*");
  const texts = text.includes(",") ? expandBraces(text) : [text];
  return texts.map((expanded) => ({ text: expanded, literal: false }));
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}
