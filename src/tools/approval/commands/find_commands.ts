/**
 * The commands that `find` starts, which are among its arguments.
 *
 * @module
 */

import type { ShellWord } from "../../kit/simple_command.ts";
import { FIND_TESTS } from "./harmless_commands.ts";

/** The commands of `find`. */
export interface FindCommands {
  /** The words of each command behind `-exec` and similar actions. */
  readonly certain: readonly (readonly ShellWord[])[];
  /** Those behind an expansion that may be such an action. */
  readonly possible: readonly (readonly ShellWord[])[];
  /** Whether there may be others: an expansion may be several words. */
  readonly isUnknown: boolean;
}

/** Maximum number of commands that may begin before the end of the first. */
const MAX_STARTS = 32;

const ACTION = /^-(?:exec|execdir|ok|okdir)$/;

/** Tests, actions and options with a value, in addition to those of harmless commands. */
const VALUED =
  /^-(?:newer[aBcmt]{2}|[acm]newer|[acm]time|[ac]min|samefile|i?lname|i?wholename|i?regex|regextype|x?type|fstype|inum|links|[gu]id|used|printf|fprint0?|fls)$/;

/** Those without a value. Behind any other, the next word may be its value, and so no action. */
const PLAIN =
  /^-(?:[HLPadox]|O\d|and|daystart|delete|depth|empty|executable|false|follow|ls|mount|nogroup|noleaf|not|nouser|nowarn|or|print0?|prune|quit|readable|true|warn|writable|xdev)$/;

/** Finds the commands among the arguments of `find`. */
export function findCommandsOfFind(args: readonly ShellWord[]): FindCommands {
  const reader = new ArgumentReader(args);
  reader.read();
  return reader;
}

class ArgumentReader implements FindCommands {
  readonly certain: (readonly ShellWord[])[] = [];
  readonly possible: (readonly ShellWord[])[] = [];
  isUnknown = false;
  readonly #args: readonly ShellWord[];
  /** Where the commands begin whose end is not found. */
  #starts: number[] = [];
  #possibleStarts: number[] = [];
  /** Whether no expansion before decides whether a word is an action, its end, or a test with a value. */
  #isCertain = true;

  /** The index of the last word that may end a command. */
  readonly #lastEnd: number;

  constructor(args: readonly ShellWord[]) {
    this.#args = args;
    this.#lastEnd = args.findLastIndex((word, index) => this.#isEnd(index) || mayBeOption(word));
  }

  read(): void {
    for (let index = 0; index < this.#args.length; index++) {
      const word = this.#args[index];
      if (!word) break;
      if (!word.literal) this.#readExpansion(word, index);
      else if (this.#isEnd(index)) this.#endCommands(index);
      else if (ACTION.test(word.text)) this.#startCommand(index);
      else if (this.#hasValue(word.text, index)) index++;
      else if (this.#mayHaveValue(word.text)) this.#isCertain = false;
    }
    // Without an end, `find` only fails, unless an expansion is one.
    this.#endCommands(this.#args.length);
  }

  /** Whether a word ends a command: `;`, or `+` behind `{}`. */
  #isEnd(index: number): boolean {
    const [text, before] = [this.#args[index]?.text, this.#args[index - 1]?.text];
    return text === ";" || text === "+" && before === "{}";
  }

  /** Whether the next word is certainly the value of a test. */
  #hasValue(text: string, index: number): boolean {
    const value = this.#args[index + 1];
    return this.#isCertain && this.#starts.length === 0 && isValued(text) &&
      value !== undefined && isOneWord(value);
  }

  /** Whether it is not known whether the next word is the value of a word. */
  #mayHaveValue(text: string): boolean {
    return this.#starts.length === 0 && text.startsWith("-") && !isValued(text) &&
      !PLAIN.test(text);
  }

  /** Within a command, an action is an argument, unless an expansion may have ended the command. */
  #startCommand(action: number): void {
    if (this.#starts.length === 0 || !this.#isCertain) this.#addStart(this.#starts, action + 1);
    // If it were the value of an expansion before it, `find` would refuse the name of the program.
    const { [action - 1]: before, [action + 1]: program } = this.#args;
    if (before?.literal !== false && program?.literal && /^\w/.test(program.text)) {
      this.#isCertain = true;
    }
  }

  #endCommands(end: number): void {
    for (const start of this.#starts) this.certain.push(this.#args.slice(start, end));
    for (const start of this.#possibleStarts) this.possible.push(this.#args.slice(start, end));
    this.#starts = [];
    this.#possibleStarts = [];
  }

  #readExpansion(word: ShellWord, index: number): void {
    if (!mayBeOption(word)) return;
    if (!isOneWord(word)) this.isUnknown = true;
    // In a command, it is an argument or the end.
    const isAction = this.#starts.length === 0 || !this.#isCertain;
    this.#isCertain = false;
    if (isAction && this.#lastEnd > index + 1) this.#addStart(this.#possibleStarts, index + 1);
  }

  #addStart(starts: number[], start: number): void {
    if (starts.length < MAX_STARTS) starts.push(start);
    else this.isUnknown = true;
  }
}

/** Whether a word has expansions that may be an option of `find`, an action or its end. */
export function mayBeOption(word: ShellWord): boolean {
  return !word.literal && !isFile(word);
}

/** Whether a word with expansions is one word. */
function isOneWord({ literal, quoted = false }: ShellWord): boolean {
  return literal || quoted;
}

function isValued(text: string): boolean {
  return FIND_TESTS.has(text) || VALUED.test(text);
}

/** Whether a word with expansions becomes only names of files, none of which is an option. */
function isFile({ text, quoted = false }: ShellWord): boolean {
  const isPattern = !/[$`]/.test(text);
  return (quoted || isPattern) && /^[\w./~]/.test(text) ||
    isPattern && !text.includes("{") && /\.\w+$/.test(text);
}
