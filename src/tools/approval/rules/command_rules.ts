/**
 * Rules for shell commands: whether a pattern such as `git log *` covers all of a command, or may concern a part of it.
 *
 * @module
 */

import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import {
  type ExecutedCommands,
  getProgram,
  isKnownProgram,
  mayChangeDirectory,
} from "../commands/executed_commands.ts";
import {
  findSubcommand,
  hasHarmlessForms,
  isHarmlessCommand,
  isHarmlessRedirect,
  readsOnlyInput,
} from "../commands/harmless_commands.ts";
import { listInputCode } from "../commands/input_code.ts";
import { isInterpreter } from "../commands/interpreters.ts";
import { findLaunched } from "../commands/launched_commands.ts";
import type { Concern } from "../patterns/concern.ts";
import { compileWildcard, type Wildcard } from "../patterns/wildcard.ts";
import { nameSecrets } from "../reads/named_secrets.ts";
import { maySearch } from "../reads/wide_searches.ts";
import { canOmitFirst, canPrecede, listCommandNames, listProgramNames } from "./command_aliases.ts";

/** A pattern of words. */
export interface CommandPattern {
  /** The program and arguments, in each of which `*` matches any characters. */
  readonly words: readonly string[];
  /** Whether more words may follow. */
  readonly isPrefix: boolean;
}

/** Parses a pattern. `*` as the last word, or `:*` at its end, matches any further words. */
export function parseCommandPattern(source: string): CommandPattern {
  const words = source.replace(/:\*$/, " *").trim().split(/\s+/);
  const isPrefix = words.at(-1) === "*";
  return { words: isPrefix ? words.slice(0, -1) : words, isPrefix };
}

/** Whether a pattern matches every command. */
export function coversAnyCommand({ words, isPrefix }: CommandPattern): boolean {
  return isPrefix && words.every((word) => /^\**$/.test(word));
}

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
  return isHarmlessCommand({ ...command, words: skipDirectory(rest) });
}

/** Sub-commands of git whose use is to change something, although some forms only read. */
function changesReferences(command: SimpleCommand): boolean {
  const texts = command.words.map(({ text }) => text);
  return texts[0] === "git" && /^(?:branch|tag|remote)$/.test(findSubcommand(texts.slice(1)));
}

/** Returns the words of git without the directory in which it runs, as in `git -C lib status`. */
function skipDirectory(words: readonly ShellWord[]): readonly ShellWord[] {
  const [program, option] = words;
  return program?.text === "git" && option?.text === "-C" ? [program, ...words.slice(3)] : words;
}

/** Decides whether a pattern may concern any of the commands that a script runs. */
export function findConcern(script: ExecutedCommands, pattern: CommandPattern): Concern {
  const findOwn = createConcern(pattern);
  const concerns = script.commands.map(findOwn);
  if (concerns.includes("certain")) return "certain";
  const isPossible = script.opaque || concerns.includes("possible") ||
    script.launched.some((command) => findOwn(command) !== "none") ||
    listInputCode(script).some((code) => namesAll(code, pattern.words));
  return isPossible ? "possible" : "none";
}

/** Whether a program has a name that a rule forbids. */
function namesProgram(forbidden: Wildcard, program: string): boolean {
  return listProgramNames(program).some((name) => forbidden.test(name));
}

function createConcern(pattern: CommandPattern): (command: SimpleCommand) => Concern {
  const { words } = pattern;
  const [name = "", ...args] = words;
  // A rule that forbids `rm*`, or `sudo` alone, is meant for any arguments.
  const isPrefix = pattern.isPrefix || words.length === 1 || words.at(-1)?.endsWith("*") === true;
  const program = compileWildcard(getBaseName(name), { anyCase: true });
  const expressions = args.map((arg) => ({ arg, expression: compileWildcard(arg) }));
  const isOption = ({ arg }: { readonly arg: string }) => arg.startsWith("-");
  const options = expressions.filter(isOption);
  const operands = expressions.filter((part) => !isOption(part)).map(({ expression }) =>
    expression
  );
  const concern = (command: SimpleCommand): Concern => {
    const [first, ...rest] = command.words;
    if (!first) return "none";
    if (!isKnownProgram(first)) return "possible";
    const base = getProgram(command);
    const [, subcommand] = /^git-(\w[\w-]*)$/.exec(base) ?? [];
    if (subcommand !== undefined) {
      const word = { text: subcommand, literal: true };
      return concern({ ...command, words: [{ text: "git", literal: true }, word, ...rest] });
    }
    if (isInterpreter(base) && rest.some(({ text }) => namesAll(text, [name, ...args]))) {
      return "possible";
    }
    if (!namesProgram(program, base)) return "none";
    const given = readArguments(base, rest);
    const end = findOptionsEnd(given);
    const hasOptions = options.every(({ arg, expression }) =>
      rest.some((word, index) =>
        index < end && mayBeOption(given, index) || expression.test(word.text) ||
        includesOption(word, arg)
      ) || includesForms(base, rest, arg)
    );
    const pattern = { program: base, expressions: operands, isPrefix };
    const short = { ...pattern, expressions: operands.slice(1) };
    const hasOperands = matchesOperands(rest, pattern) ||
      canOmitFirst(base, args) && matchesOperands(rest, short);
    if (!hasOptions || !hasOperands) return "none";
    return command.words.every(isFixed) ? "certain" : "possible";
  };
  return (command) => {
    const own = concern(command);
    if (own !== "none") return own;
    const isLaunched = (words: readonly ShellWord[]) =>
      concern({ assignments: [], words, redirects: [] }) !== "none";
    const mayBegin = (text: string) => namesProgram(program, text) || isInterpreter(text);
    return findLaunched(command, mayBegin).some(isLaunched) ? "possible" : "none";
  };
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
    words.every((word) => word.startsWith("-") || namesWord(code, getBaseName(word)));
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

/** Whether a word contains an option: abbreviated, with a value, or among the letters of short options. */
function includesOption({ text }: ShellWord, option: string): boolean {
  if (option.startsWith("--")) {
    const [name = ""] = text.split("=");
    return name.length > 2 && option.startsWith(name);
  }
  return /^-\w$/.test(option) && /^-\w+/.test(text) && text.includes(option.charAt(1));
}

/** The long forms of short options of a program. */
type OptionForms = Readonly<Record<string, readonly string[]>>;

/** Those of common programs, and of sub-commands of git, in which one letter has several meanings. */
const OPTION_FORMS: ReadonlyMap<string, OptionForms> = new Map<string, OptionForms>([
  ["rm", { r: ["--recursive"], R: ["--recursive"], f: ["--force"] }],
  ["cp", { r: ["--recursive"], R: ["--recursive"], f: ["--force"] }],
  ["chmod", { R: ["--recursive"] }],
  ["chown", { R: ["--recursive"] }],
  ["git", { f: ["--force"] }],
  ["git branch", { d: ["--delete"], D: ["--delete", "--force"] }],
  ["git tag", { d: ["--delete"] }],
  ["git push", { d: ["--delete"] }],
  ["git commit", { n: ["--no-verify"] }],
  ["npm", { g: ["--global"] }],
  ["pnpm", { g: ["--global"] }],
  ["deno", {
    A: ["--allow-all"],
    R: ["--allow-read"],
    W: ["--allow-write"],
    N: ["--allow-net"],
    E: ["--allow-env"],
    S: ["--allow-sys"],
  }],
]);

/** Matches letters of short options. A longer word is one option of programs such as `find`. */
const SHORT_OPTIONS = /^-[a-zA-Z]{1,5}$/;

/** Whether words contain an option in other forms: `-r -f`, `-fr` and `--force -r` for `-rf`, `-f` for `--force`. */
function includesForms(program: string, words: readonly ShellWord[], option: string): boolean {
  if (program === "find") return false;
  const forms: OptionForms = Object.assign(
    {},
    OPTION_FORMS.get(program),
    ...words.map(({ text }) => OPTION_FORMS.get(`${program} ${text}`)),
  );
  const wanted = listForms(option, forms);
  const isPush = program === "git" && words.some(({ text }) => text === "push");
  const given = new Set(
    words.flatMap(({ text }) => [
      ...listForms(text, forms),
      ...(isPush ? listReferenceForms(text) : []),
    ]),
  );
  const isGiven = (form: string): boolean =>
    given.has(form) || [...given].some((text) => /^--./.test(text) && form.startsWith(text));
  return wanted.length > 0 && wanted.every(isGiven);
}

/** Returns the option of `git push` that has the effect of a reference such as `+main` and `:main`. */
function listReferenceForms(text: string): readonly string[] {
  if (/^\+./.test(text)) return ["--force"];
  return /^:./.test(text) ? ["--delete"] : [];
}

/** Returns the options in a word, the long ones without their value. */
function listForms(text: string, forms: OptionForms): readonly string[] {
  if (text.startsWith("--")) return [text.replace(/=.*$/s, "")];
  if (!SHORT_OPTIONS.test(text)) return [];
  return [...text.slice(1)].flatMap((letter) => forms[letter] ?? [`-${letter}`]);
}

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function matchesWord(expression: Wildcard, word: ShellWord | undefined): boolean {
  return word !== undefined && expression.test(word.text);
}
