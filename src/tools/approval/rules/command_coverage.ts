/**
 * Decides whether patterns cover all of a command, as those of rules that allow it.
 *
 * @module
 */

import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { type ExecutedCommands, mayChangeDirectory } from "../commands/executed_commands.ts";
import {
  findSubcommand,
  hasHarmlessForms,
  isHarmlessCommand,
  isHarmlessRedirect,
  readsOnlyInput,
} from "../commands/harmless_commands.ts";
import { compileWildcard, type Wildcard } from "../patterns/wildcard.ts";
import { nameSecrets } from "../reads/named_secrets.ts";
import { maySearch } from "../reads/wide_searches.ts";
import type { CommandPattern } from "./command_pattern.ts";

/** The conditions under which a script runs. */
export interface ScriptConditions {
  /** Whether an earlier command may have changed the working directory. */
  readonly isMoved: boolean;
  /** Whether the sandbox keeps commands from the files that they must not read. */
  readonly isConfined: boolean;
  /** Whether one of its commands may show all files of a directory, about which the gate asks. */
  readonly isSearch: boolean;
}

/**
 * Whether patterns together cover a script: its meaning is fixed, one of its commands matches, and each of the others matches
 * or is harmless. The others name no secrets, are no searches about which the gate asks, and read no files at all while no
 * sandbox confines them: a rule for one command allows no other one to read any file.
 */
export function coversScript(
  script: ExecutedCommands,
  patterns: readonly CommandPattern[],
  { isMoved, isConfined, isSearch }: ScriptConditions,
): boolean {
  const { commands, opaque, plain } = script;
  if (opaque || !plain) return false;
  const mayMove = isMoved || mayChangeDirectory(script);
  const isHarmless = isConfined ? isHarmlessCommand : readsOnlyInput;
  const usable = patterns.filter((pattern) => !(mayMove && isRelative(pattern)));
  const others = listUncovered(script, usable);
  return others.length < commands.length && others.every(isHarmless) &&
    !(isSearch && others.some(maySearch)) &&
    !nameSecrets([...others.flatMap(({ words }) => words), ...commands.flatMap(listInputs)]);
}

/** Lists the commands of a script that no pattern covers. */
export function listUncovered(
  { commands }: Pick<ExecutedCommands, "commands">,
  patterns: readonly CommandPattern[],
): readonly SimpleCommand[] {
  const coverages = patterns.map(createCoverage);
  return commands.filter((command) => !coverages.some((covers) => covers(command)));
}

/** Whether a pattern covers a command of a script, if its meaning is fixed. */
export function coversPart({ commands }: ExecutedCommands, pattern: CommandPattern): boolean {
  return commands.some(createCoverage(pattern));
}

/** Whether a pattern is for the path of a program, which means another one in another directory. */
function isRelative({ words }: CommandPattern): boolean {
  return /^[^/]+\//.test(words[0] ?? "");
}

function listInputs({ redirects }: SimpleCommand): readonly ShellWord[] {
  return redirects.flatMap(({ operator, target }) => operator === "<" && target ? [target] : []);
}

function createCoverage(pattern: CommandPattern): (command: SimpleCommand) => boolean {
  const { words, isPrefix } = pattern;
  const expressions = words.map((word) => compileWildcard(word));
  return (command) => {
    const { assignments, redirects } = command;
    if (assignments.length > 0 || !redirects.every(isHarmlessRedirect)) return false;
    const fits = isPrefix
      ? command.words.length >= expressions.length
      : command.words.length === expressions.length;
    return fits && command.words.every(({ literal }) => literal) &&
      expressions.every((expression, index) => matchesWord(expression, command.words[index])) &&
      coversWildcards(command, pattern);
  };
}

/**
 * Whether the words that a pattern leaves open stay within what it allows: where a program or its sub-command is known
 * to be harmless in certain forms, no others are covered, such as `git log --output=file`.
 */
function coversWildcards(command: SimpleCommand, { words, isPrefix }: CommandPattern): boolean {
  const isExact = !isPrefix && !words.some((word) => word.includes("*"));
  if (isExact || !hasHarmlessForms(command.words) || changesReferences(command)) return true;
  const isGranted = (index: number) => /^-(?!C$)[^*]*$/.test(words[index] ?? "");
  const rest = command.words.filter((_, index) => !isGranted(index));
  return isHarmlessCommand({ ...command, words: skipDirectoryOption(rest) });
}

/** Sub-commands of git whose use is to change something, although some forms only read. */
function changesReferences(command: SimpleCommand): boolean {
  const texts = command.words.map(({ text }) => text);
  return texts[0] === "git" && /^(?:branch|tag|remote)$/.test(findSubcommand(texts.slice(1)));
}

/** Returns the words of git without the directory in which it runs, as in `git -C lib status`. */
function skipDirectoryOption(words: readonly ShellWord[]): readonly ShellWord[] {
  const [program, option] = words;
  return program?.text === "git" && option?.text === "-C" ? [program, ...words.slice(3)] : words;
}

function matchesWord(expression: Wildcard, word: ShellWord | undefined): boolean {
  return word !== undefined && expression.test(word.text);
}
