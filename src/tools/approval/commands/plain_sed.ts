/**
 * The scripts of `sed` that only select, replace and move lines. Others can run programs, and read and write files.
 *
 * @module
 */

import type { ShellWord } from "../../kit/simple_command.ts";

/** The arguments of `sed`. */
interface SedArguments {
  readonly scripts: readonly ShellWord[];
  /** Whether it changes the files. */
  readonly isInPlace: boolean;
}

/** Options without a value. */
const FLAGS = /^(?:-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|null-data|unbuffered))$/;
const IN_PLACE = /^(?:-[nErsuz]*i|--in-place(?:=|$))/;
/** An option with a script, which may be the next word. */
const SCRIPT = /^(?:-[nErsuz]*e|--expression(?:=|$))(.*)$/s;

/** Whether the arguments of `sed` have scripts that only select, replace and move lines, and no other options. */
export function isPlainSed(args: readonly ShellWord[]): boolean {
  if (args.length === 1 && /^--(?:version|help)$/.test(args[0]?.text ?? "")) return true;
  return parseArguments(args)?.scripts.every(isPlainScript) ?? false;
}

/** Whether `sed` with these arguments only prints lines. */
export function isHarmlessSed(args: readonly string[]): boolean {
  const parsed = parseArguments(args.map((text) => ({ text, literal: true })));
  return parsed !== undefined && !parsed.isInPlace && parsed.scripts.every(isPlainScript);
}

/** Finds the scripts; `undefined` if an option is not known. */
function parseArguments(args: readonly ShellWord[]): SedArguments | undefined {
  const scripts: ShellWord[] = [];
  const operands: ShellWord[] = [];
  let isInPlace = false;
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? NO_SCRIPT;
    const [option, value] = SCRIPT.exec(word.text) ?? [];
    if (option !== undefined) {
      scripts.push(value ? { text: value, literal: word.literal } : args[++index] ?? NO_SCRIPT);
    } else if (!word.text.startsWith("-") || word.text === "-") operands.push(word);
    else if (!word.literal) return undefined;
    else if (IN_PLACE.test(word.text)) isInPlace = true;
    else if (!FLAGS.test(word.text)) return undefined;
  }
  if (scripts.length > 0) return { scripts, isInPlace };
  // The first operand may be an empty suffix, as on macOS.
  const start = isInPlace && operands[0]?.literal && operands[0].text === "" ? 1 : 0;
  return { scripts: [operands[start] ?? NO_SCRIPT], isInPlace };
}

const NO_SCRIPT: ShellWord = { text: "", literal: false };

/**
 * A character of an expression, or several in brackets. Programs differ in whether a delimiter in brackets ends the
 * expression, so that there is none.
 */
const getExpression = (delimiter: string): string =>
  String.raw`(?:(?!${delimiter})[^\\\n[]|\\[^\n]|\[\^?\]?(?:(?!${delimiter})[^\]\n])*\])*`;
const REPLACEMENT = String.raw`(?:(?!\k<end>)[^\\\n]|\\[^\n])*`;

const MATCH = `/${getExpression("/")}/[IM]*`;
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|${MATCH})(?: *, *(?:[+~]?\d+|\$|${MATCH}))?`;

/** A command with its address, and the separators around it. */
const COMMAND = new RegExp(
  String.raw`[;\s]*(?:${ADDRESS})? *(?:! *)?(?:` +
    [
      "[{}]",
      String.raw`(?:[dpnNDPhHgGxl=]|[qQ]\d*|:\w+|[btT] *\w*)(?=\s*(?:[;}\n]|$))`,
      String.raw`s(?<end>[/|#,@:%!~+])${getExpression(String.raw`\k<end>`)}\k<end>` +
      String.raw`${REPLACEMENT}\k<end>[gpiIM\d]*(?=\s*(?:[;}\n]|$))`,
      // The text is the rest of the script: each of its lines but the last ends with a backslash.
      String.raw`[aic](?:(?:[^\\\n]|\\[^\n])*\\\n)*[^\n]*(?<!\\)$`,
    ].join("|") +
    String.raw`)[;\s]*`,
  "y",
);

/** Maximum length of a script that is analyzed, which takes time of its square. */
const MAX_SCRIPT = 4_096;

/** Whether a script runs no programs, and neither reads nor writes other files. */
function isPlainScript({ text, literal }: ShellWord): boolean {
  if (!literal || text === "" || text.length > MAX_SCRIPT) return false;
  let position = 0;
  while (position < text.length) {
    COMMAND.lastIndex = position;
    const [match] = COMMAND.exec(text) ?? [];
    if (!match) return false;
    position += match.length;
  }
  return true;
}
