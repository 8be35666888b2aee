/**
 * Decides whether a pattern may concern a part of a command, as that of a rule that forbids it.
 *
 * @module
 */

import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { listCodeTexts } from "../commands/code_texts.ts";
import {
  type ExecutedCommands,
  getProgram,
  isKnownProgram,
} from "../commands/executed_commands.ts";
import { getFileName } from "../commands/file_name.ts";
import { findSubcommand } from "../commands/harmless_commands.ts";
import { listInputCode } from "../commands/input_code.ts";
import { isInterpreter } from "../commands/interpreters.ts";
import { findLaunched } from "../commands/launched_commands.ts";
import { listUnknownArguments } from "../commands/unknown_inputs.ts";
import type { Concern } from "../patterns/concern.ts";
import { compileWildcard, type Wildcard } from "../patterns/wildcard.ts";
import { canOmitFirst, canPrecede, listCommandNames, listProgramNames } from "./command_aliases.ts";
import type { CommandPattern } from "./command_pattern.ts";
import { includesForms, includesOption } from "./option_forms.ts";

/** Decides whether a pattern may concern any of the commands that a script runs. */
export function findConcern(script: ExecutedCommands, pattern: CommandPattern): Concern {
  const forbidden = compilePattern(pattern);
  const concerns = script.commands.map((command) => findCommandConcern(forbidden, command));
  if (concerns.includes("certain")) return "certain";
  const isPossible = script.opaque || concerns.includes("possible") ||
    script.launched.some((command) => findCommandConcern(forbidden, command) !== "none") ||
    listInputCode(script).some((code) => namesAll(code, pattern.words));
  return isPossible ? "possible" : "none";
}

/** Whether a program has a name that a rule forbids. */
function namesProgram(forbidden: Wildcard, program: string): boolean {
  return listProgramNames(program).some((name) => forbidden.test(name));
}

/** A pattern in parts. */
interface ForbiddenCommand {
  /** Its words. */
  readonly words: readonly string[];
  readonly program: Wildcard;
  readonly options: readonly ForbiddenOption[];
  readonly operands: readonly Wildcard[];
  /** Whether more operands may follow. */
  readonly isPrefix: boolean;
}

interface ForbiddenOption {
  readonly text: string;
  readonly expression: Wildcard;
}

function compilePattern({ words, isPrefix }: CommandPattern): ForbiddenCommand {
  const [name = "", ...args] = words;
  const options = args.filter((text) => text.startsWith("-"));
  const operands = args.filter((text) => !text.startsWith("-"));
  return {
    words: [name, ...args],
    program: compileWildcard(getFileName(name), { anyCase: true }),
    options: options.map((text) => ({ text, expression: compileWildcard(text) })),
    operands: operands.map((text) => compileWildcard(text)),
    // A rule that forbids `rm*`, or `sudo` alone, is meant for any arguments.
    isPrefix: isPrefix || words.length === 1 || words.at(-1)?.endsWith("*") === true,
  };
}

/** Decides whether a pattern may concern a command, or one that it launches. */
function findCommandConcern(forbidden: ForbiddenCommand, command: SimpleCommand): Concern {
  const own = findOwnConcern(forbidden, command);
  if (own !== "none") return own;
  const isLaunched = (words: readonly ShellWord[]) =>
    findOwnConcern(forbidden, { assignments: [], words, redirects: [] }) !== "none";
  const mayBegin = (text: string) => namesProgram(forbidden.program, text) || isInterpreter(text);
  if (findLaunched(command, mayBegin).some(isLaunched)) return "possible";
  return listUnknownArguments(command).some((word, index, words) =>
      namesAll(word.text, forbidden.words) ||
      word.literal && namesProgram(forbidden.program, getFileName(word.text)) &&
        isLaunched(words.slice(index))
    )
    ? "possible"
    : "none";
}

function findOwnConcern(forbidden: ForbiddenCommand, command: SimpleCommand): Concern {
  const [first, ...rest] = command.words;
  if (!first) return "none";
  if (!isKnownProgram(first)) return "possible";
  const program = getProgram(command);
  const [, subcommand] = /^git-(\w[\w-]*)$/.exec(program) ?? [];
  if (subcommand !== undefined) {
    const word = { text: subcommand, literal: true };
    const words = [{ text: "git", literal: true }, word, ...rest];
    return findOwnConcern(forbidden, { ...command, words });
  }
  if (isInterpreter(program)) {
    const texts = listCodeTexts(program, rest.map(({ text }) => text));
    if (texts.some((text) => namesAll(text, forbidden.words))) return "possible";
  }
  const isForbidden = namesProgram(forbidden.program, program) &&
    hasOptions(forbidden, program, rest) && hasOperands(forbidden, program, rest);
  if (!isForbidden) return "none";
  return command.words.every(isFixed) ? "certain" : "possible";
}

/** Whether the arguments of a program may have all options of a pattern. */
function hasOptions(
  { options }: ForbiddenCommand,
  program: string,
  args: readonly ShellWord[],
): boolean {
  const given = readArguments(program, args);
  const end = findOptionsEnd(given);
  return options.every(({ text, expression }) =>
    args.some((word, index) =>
      index < end && mayBeOption(given, index) || expression.test(word.text) ||
      includesOption(word, text)
    ) || includesForms(program, args, text)
  );
}

/** Whether the arguments of a program may have all operands of a pattern. */
function hasOperands(
  { words: [, ...forbidden], operands: expressions, isPrefix }: ForbiddenCommand,
  program: string,
  args: readonly ShellWord[],
): boolean {
  const pattern = { program, expressions, isPrefix };
  return matchesOperands(args, pattern) ||
    canOmitFirst(program, forbidden) &&
      matchesOperands(args, { ...pattern, expressions: expressions.slice(1) });
}

/** Whether a program gets exactly the text of a word. */
function isFixed({ literal, replaced = false }: ShellWord): boolean {
  return literal && !replaced;
}

/** The arguments of a command. */
interface Arguments {
  readonly program: string;
  readonly words: readonly ShellWord[];
  /** The sub-command of git; empty for another program. */
  readonly subcommand: string;
  /** The index of the sub-command. */
  readonly start: number;
}

function readArguments(program: string, words: readonly ShellWord[]): Arguments {
  const texts = program === "git" ? words.map(({ text }) => text) : [];
  const subcommand = findSubcommand(texts);
  return { program, words, subcommand, start: texts.indexOf(subcommand) };
}

/**
 * Whether a word with expansions may be an option. It is none if it begins with another character and is one word, or the
 * names of files, as in `rm dist/*.js`.
 */
function mayBeOption(given: Arguments, index: number): boolean {
  const { text = "", literal = true, quoted = false, replaced = false } = given.words[index] ?? {};
  // `find` inserts a path, which begins with one of its arguments, and so with no dash.
  if (replaced) return text.startsWith("-");
  const isOneWord = quoted || !/[$`]/.test(text);
  return !literal && !(isOneWord && /^[\w./]/.test(text)) && !isValue(given, index);
}

/** Sub-commands of git whose arguments behind `--` are files. */
const WITH_FILES = /^(?:add|checkout|commit|diff|log|reset|restore|rm|show)$/;

/** Returns the index of `--` if only names of files follow it; else the number of words. */
function findOptionsEnd({ program, words, subcommand }: Arguments): number {
  const index = words.findIndex(({ text, literal }) => literal && text === "--");
  // In the history, `-S` has its value in the next word.
  const isSearch = subcommand !== "commit" && /^-\w*S$/.test(words[index - 1]?.text ?? "");
  // No option of `rm` has one.
  const isEnd = program === "rm" ||
    isOptionItself(words, index) && !isSearch &&
      (program === "chmod" || WITH_FILES.test(subcommand));
  return index !== -1 && isEnd ? index : words.length;
}

/** Whether a word with expansions is the value of an option, as in `git -C "$DIR" commit -m "$TEXT"`, and so no option. */
function isValue({ program, words, subcommand, start }: Arguments, index: number): boolean {
  const option = words[index - 1]?.text ?? "";
  if (words[index]?.quoted !== true || !isOptionItself(words, index - 1)) return false;
  if (program === "gh") return /^--(?:title|body)$/.test(option);
  // Behind the sub-command it is another option.
  if (option === "-C") return index < start;
  return /^(?:-a?m|--message)$/.test(option) &&
    /^(?:commit|tag|merge|stash|notes)$/.test(subcommand);
}

/** Whether the word at an index is an option, and not the value of one before it. */
function isOptionItself(words: readonly ShellWord[], index: number): boolean {
  const before = words[index - 1]?.text ?? "";
  return words[index]?.literal === true && (!before.startsWith("-") || FLAGS.test(before));
}

/** Options of git and others without a value in the next word. */
const FLAGS =
  /^(?:-[aefikopqsvzPS]+|--(?:no-[\w-]+|all|amend|allow-empty(?:-message)?|annotate|draft|dry-run|edit|ff|ff-only|fill|force|include-untracked|keep-index|quiet|recursive|signoff|silent|staged|verbose|web)|--[\w-]+=.*)$/s;

/** Whether code contains the words of a pattern, except its options. */
function namesAll(code: string, words: readonly string[]): boolean {
  return /[^\w@./:=+-]/.test(code) &&
    words.every((word) => word.startsWith("-") || namesWord(code, getFileName(word)));
}

/** Whether code contains a word; with `*`, its longest part. */
function namesWord(code: string, word: string): boolean {
  const [part = ""] = word.toLowerCase().split("*").sort((a, b) => b.length - a.length);
  if (part === "") return true;
  const text = code.toLowerCase();
  const isWord = (index: number) =>
    word.includes("*") ||
    !/[\w-]/.test(text.charAt(index - 1)) && !/[\w-]/.test(text.charAt(index + part.length));
  for (let index = text.indexOf(part); index !== -1; index = text.indexOf(part, index + 1)) {
    if (isWord(index)) return true;
  }
  return false;
}

/** Options of git and others that always have a value in the next word, such as a directory. */
const VALUED_OPTIONS =
  /^(?:-C|--(?:prefix|workspace|dir|directory|cwd|filter|namespace|context|manifest-path|registry|profile))$/;

/** Whether the word at an index is an option of a program that has its value in the next word. */
function hasValuedOption(program: string, words: readonly ShellWord[], index: number): boolean {
  const before = words[index - 1]?.text ?? "";
  const option = words[index]?.text ?? "";
  const isValued = VALUED_OPTIONS.test(option) ||
    option === "-n" && /^(?:kubectl|oc|helm)$/.test(program);
  return isValued && isOptionItself(words, index) &&
    // Letters are options with a value for programs such as kubectl.
    (program === "git" || !/^-\w/.test(before));
}

/**
 * Whether operands match in order. The program may have options before and between them, each with a value in the next
 * word.
 */
function matchesOperands(
  words: readonly ShellWord[],
  { program, expressions, isPrefix }: {
    readonly program: string;
    readonly expressions: readonly Wildcard[];
    readonly isPrefix: boolean;
  },
): boolean {
  let matched = 0;
  let isValue = false;
  for (const [index, word] of words.entries()) {
    const expression = expressions[matched];
    if (!expression && isPrefix) return true;
    // An expansion can become any number of words, unless it is quoted. `find` inserts one that may be a sub-command.
    if (!word.literal || word.replaced && !word.text.startsWith("-")) {
      if (!word.literal && !word.quoted || !hasValuedOption(program, words, index - 1)) return true;
      isValue = false;
      continue;
    }
    const names = matched === 0 ? listCommandNames(program, word.text) : [word.text];
    if (names.some((name) => expression?.test(name))) {
      matched++;
      isValue = false;
    } else if (word.text.startsWith("-")) isValue = !word.text.includes("=");
    else if (isValue) isValue = false;
    else if (!canPrecede(program, word.text, words[index + 1]?.text)) return false;
  }
  return matched === expressions.length;
}
