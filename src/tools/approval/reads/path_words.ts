/**
 * Finds the words of a shell command that may be paths.
 *
 * @module
 */

import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { getInputText, getProgram } from "../commands/executed_commands.ts";
import { hasHarmlessForms, WITHOUT_FILES } from "../commands/harmless_commands.ts";
import { createProgramTest } from "../commands/interpreters.ts";
import { isPlainValue } from "../shell/evaluated_variables.ts";
import { listValues } from "../shell/word_values.ts";
import { listCodePaths, looksLikePath, quotesTexts } from "./code_paths.ts";
import { listExpressionGlobs, listProgramGlobs } from "./program_globs.ts";
import { listScriptFiles } from "./script_files.ts";

/** Programs whose operands are files, besides those with harmless forms. */
const FILE_PROGRAMS: ReadonlySet<string> = new Set(
  ("pushd source . cp mv ln install dd tar zip gzip bzip2 xz zstd zcat bzcat xzcat 7z rsync scp sftp curl less more " +
    "bat batcat view vi vim nvim nano emacs code open xdg-open egrep fgrep ag ack fd fdfind yq awk gawk mawk nawk split csplit " +
    "iconv envsubst look pr shred openssl gpg age ssh-add ssh-keygen perl").split(" "),
);

/** Sub-commands of git whose operands may be files that they read. */
const GIT_READERS: ReadonlySet<string> = new Set(
  "annotate archive blame cat-file diff difftool grep log ls-files ls-tree rev-list shortlog show stash status"
    .split(" "),
);

/** Programs whose first operand is a pattern or a script. That of `yq` may be a file. */
const WITH_PATTERN: ReadonlySet<string> = new Set(
  ("grep egrep fgrep rg ag ack fd fdfind jq sed awk gawk mawk nawk").split(" "),
);

/** Options that have the pattern, or another value that is not known here, so that the first operand may be a path. */
const PATTERN_OPTIONS = /^-(?!-)\w*[efg]|^--(?:expr|reg|f(?!ixed)|exclude-from|ignore-file)/;

/** Options whose value, such as a number, a type or a variable, is the next word, before the pattern. */
const VALUE_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ...["grep", "egrep", "fgrep", "rg"].map((name) => [name, /^-\w*[ABCmt]$/] as const),
  ...["awk", "gawk", "mawk", "nawk"].map((name) => [name, /^-[Fv]$/] as const),
  ["jq", /^--indent$/],
]);

/** Options of `jq` with two values: a name and a text. */
const PAIR_OPTIONS = /^--arg(?:json)?$/;

/** Options of `jq` without a value. */
const JQ_FLAGS =
  /^(?:-[acCejMnrRsS]+|--(?:null-input|raw-(?:input|output)|join-output|slurp|compact-output|sort-keys|tab|exit-status))$/;

/** Options whose value, a glob of files, is the next word. */
const GLOB_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["rg", /^(?:-g|--i?glob)$/],
  ...["grep", "egrep", "fgrep"].map((name) => [name, /^--(?:inc|exc)[a-z-]*$/] as const),
]);

/** Options whose value, the next word, is a pattern or a script. */
const TEXT_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["grep", /^(?:-[nilrRwovFEPshHqcx]*e|--regexp)$/],
  ["egrep", /^(?:-[nilrRwovshHqcx]*e|--regexp)$/],
  ["fgrep", /^(?:-[nilrRwovshHqcx]*e|--regexp)$/],
  ["rg", /^(?:-[nilwovFPsSucx]*e|--regexp)$/],
  ["sed", /^(?:-[nErsz]*e|--expression)$/],
]);

/** An expression of perl that only compares or replaces text: without code in it, such as an index of a variable. */
const PERL_EXPRESSION =
  /^(?![^$@]*[$@].*[[{]|.*\([?*]+\w?\{)(?:s([/|#,!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gimsx]*|m?([/|#,!])(?:(?!\2).)*\2[gimsx]*);?$/;

/** Options of `fd` that run a program for each file that it finds. */
const FD_EXECUTION = /^(?:-\w*[xX]|--exec(?:-batch)?)$/;

/** Options whose value leaves out files, or is text. */
const EXCLUDING_OPTIONS = /^--(?:exclude|exclude-dir|grep|author)$/;

/** The same with the value in the same word; without one, some of these have none in other programs. */
const EXCLUDING_VALUES = /^--(?:exclude|exclude-dir|ignore|ignore-dir|hide|grep|author)=/;

/** Such options of one program. */
const OWN_EXCLUDING_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["ag", /^--ignore(?:-dir)?$/],
  ["ls", /^(?:-\w*I|--ignore|--hide)$/],
  ["tree", /^-\w*I$/],
  ["diff", /^-\w*x$/],
  ["zip", /^-x$/],
  ["git", /^-[SG]$/],
]);

/** Programs whose arguments or input may be code. */
const mayRunCode = createProgramTest(
  `i?python pypy ruby perl php lua node nodejs tsx ts-node deno bun luajit osascript sqlite3 psql mysql zsh fish t?csh nu pwsh su
  runuser watch script flock hyperfine parallel entr tmux screen`,
);

/** Shells whose scripts are analyzed, unless another command writes them. */
const SHELLS = /^(?:ba|da|k|a|rba)?sh$/;

/** A word that may be a path. */
export interface PathWord extends ShellWord {
  /** Whether the program compares it with the names of files in any directory below. Default: it does not. */
  readonly isGlob?: true;
}

/** Whether a word sets `PATH` to directories of programs. */
function setsPlainPath({ text, literal }: ShellWord): boolean {
  return text.startsWith("PATH=") && isPlainValue("PATH", text.slice("PATH=".length), literal);
}

/**
 * Returns the words of a command that may be paths: all operands of a program that reads files except patterns and what
 * it leaves out, and of other programs those that look so and are no text.
 */
export function listPathWords(command: SimpleCommand): readonly PathWord[] {
  const targets = command.redirects.flatMap(({ target }) => target ?? []);
  const { name, subcommand, args } = splitCommand(command);
  // `date -f` prints the lines of a file.
  if (WITHOUT_FILES.has(name) && !/^(?:cd|date)$/.test(name)) return targets;
  const isReader = name === "git" ? GIT_READERS.has(subcommand) : isFileProgram(name);
  const patternIndex = findPattern(subcommand === "grep" ? "grep" : name, args);
  const texts = args.map(({ text }) => text);
  const words = args.flatMap((word, index) => {
    const position = { texts, index };
    if (index === patternIndex || isExcluded(name, position)) return [];
    if (name === "export" && setsPlainPath(word)) return [];
    if (name === "git" && isBranch(subcommand, position)) return [];
    const { [index - 1]: previous = "" } = texts;
    return listParts(name, word.text, isReader).flatMap((text): readonly PathWord[] => [
      { text, literal: word.literal },
      ...(isReader && word.literal ? listShortestName(text) : []),
      ...(isReader
        ? listProgramGlobs(name, { text, word: word.text, previous }).map(toGlobWord)
        : []),
    ]);
  });
  const documents = mayRunCode(name)
    ? command.redirects.flatMap((redirect) => listCodePaths(name, getInputText(redirect)))
    : [];
  const files = [...documents, ...texts.flatMap((text) => listScriptFiles(name, text))];
  const programs = command.words.slice(0, 1).filter(({ text }) => text.includes("/"));
  const directories = listDirectoryOptions(command);
  return [
    ...programs,
    ...words,
    ...directories,
    ...files.map((text) => ({ text, literal: true })),
    ...targets,
  ];
}

/** Returns the parts of a word that may be paths: the paths in code, or the word and the values in it. */
function listParts(program: string, text: string, isReader: boolean): readonly string[] {
  const isCode = (mayRunCode(program) || program === "alias") && /[\s"'`()]/.test(text);
  if (isCode) return listCodePaths(program, text);
  return isReader || looksLikePath(text) ? listValues(text, isReader) : [];
}

/** Options with the directory in which a program, or the one that it runs, works; the value may be the next word. */
const DIRECTORY_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ...withDirectoryOption("env", "-[iv0]*C|--chdir="),
  ...withDirectoryOption("sudo", "-[A-Za-z]*D|--chdir="),
  ...withDirectoryOption("tar", "-[A-Za-z]*C|--directory="),
  ...withDirectoryOption("mise poetry uv", "-C|--(?:cd|directory|project)="),
  ...withDirectoryOption("npm pnpm yarn bun", "-C|--(?:cwd|dir|prefix)="),
  ...withDirectoryOption("unshare nsenter", "-[A-Za-z]*w|--wdi?r?="),
  ...withDirectoryOption("bwrap", "--chdir="),
  ...withDirectoryOption("systemd-run", "--working-directory="),
]);

/** Behind `=` of a long option, the value may also be the next word. */
function withDirectoryOption(
  programs: string,
  options: string,
): readonly (readonly [program: string, option: RegExp])[] {
  const pattern = new RegExp(`^(?:${options.replaceAll("=", "(?:=|$)")})(.*)$`, "s");
  return programs.split(" ").map((program) => [program, pattern]);
}

/** Returns the directories in which a command works by its options, such as `env -C secret cat a`. */
export function listDirectoryOptions(command: SimpleCommand): readonly ShellWord[] {
  const args = command.words.slice(1);
  const program = getProgram(command);
  if (program === "git") return args[0]?.text === "-C" ? args.slice(1, 2) : [];
  const option = DIRECTORY_OPTIONS.get(program);
  if (!option) return [];
  return args.flatMap(({ text, literal }, index) => {
    const [match, value = ""] = option.exec(text) ?? [];
    if (match === undefined) return [];
    return value === "" ? args.slice(index + 1, index + 2) : [{ text: value, literal }];
  });
}

function toGlobWord(text: string): PathWord {
  return { text, literal: false, isGlob: true };
}

/** Whether a command prints its arguments. */
export function isPrinter(command: SimpleCommand): boolean {
  return /^(?:echo|printf)$/.test(getProgram(command));
}

/** Programs that take names of files from their input. */
const NAME_READERS = /^(?:xargs|read|mapfile|readarray|parallel|cpio)$/;

/** Whether a command takes names of files from its input. */
export function isNameReader(command: SimpleCommand): boolean {
  return NAME_READERS.test(getProgram(command));
}

/** Options with which grep selects the other lines, or prints no lines. */
const UNSELECTING_OPTIONS = /^-(?!-)\w*[vlLrRc]|^--(?:inv|files|rec|deref|count)/;

/** Returns the names that a filter such as `grep .env` selects from its input, and may pass to another command. */
export function listSelectedNames(command: SimpleCommand): readonly PathWord[] {
  const name = getProgram(command);
  const args = command.words.slice(1);
  // One with files that are not known, as after xargs, is no filter.
  const isFilter = /grep$|^rg$/.test(name) &&
    args.every(({ text, literal }) => literal && !UNSELECTING_OPTIONS.test(text));
  if (!isFilter) return [];
  const index = findPattern(name, args);
  const options = TEXT_OPTIONS.get(name);
  const pattern = args.find((_, position) =>
    index === -1 ? options?.test(args[position - 1]?.text ?? "") : position === index
  );
  if (!pattern || !/[/.\\^$*+]/.test(pattern.text)) return [];
  return [pattern, ...listExpressionGlobs(pattern.text).map(toGlobWord)];
}

/** Returns the expressions that a command such as `grep` searches for, or with which `jq` selects values. */
export function listSearchExpressions(command: SimpleCommand): readonly ShellWord[] {
  const { name: program, subcommand, args } = splitCommand(command);
  const name = subcommand === "grep" ? "grep" : program;
  if (!/grep$|^rg$|^jq$/.test(name) || args.some(({ text }) => text === "--files")) return [];
  const index = findPattern(name, args);
  const options = TEXT_OPTIONS.get(name);
  return args.filter((_, position) =>
    position === index || options?.test(args[position - 1]?.text ?? "")
  );
}

/**
 * Returns the names of files that a script prints, or has in a document, for a command that takes names from its input. Names
 * without `/` and `.` are such only if a program gets them that reads files.
 */
export function listInputNames(commands: readonly SimpleCommand[]): readonly ShellWord[] {
  if (!commands.some(isNameReader)) return [];
  const documents = commands.flatMap(({ redirects }) => redirects.map(getInputText));
  const printed = commands.flatMap((command, index) => {
    if (!isPrinter(command)) return [];
    // A text with several words may be a message, unless the next command reads it.
    const isInput = commands.slice(index + 1, index + 2).some(isNameReader);
    return command.words.slice(1).flatMap(({ text, literal }) => {
      const names = splitNames(text);
      return isInput || names.length === 1 ? names.map((name) => ({ text: name, literal })) : [];
    });
  });
  const written = documents.flatMap(splitNames).map((text) => ({ text, literal: true }));
  const isRead = commands.some((command) =>
    isFileProgram(getProgram(command)) && command.words.some(({ literal }) => !literal)
  );
  return [...printed, ...written].filter(({ text }) => isRead || looksLikePath(text));
}

/** Returns the paths in code that a script prints, or has in a document, for a command that runs its input. */
export function listInputCodePaths(commands: readonly SimpleCommand[]): readonly ShellWord[] {
  const interpreters = commands.filter(runsItsInput).map(getProgram);
  const [first] = interpreters;
  if (first === undefined) return [];
  // Which of them runs a text is not certain.
  const interpreter = interpreters.find((name) => !quotesTexts(name)) ?? first;
  const documents = commands.flatMap(({ redirects }) => redirects.map(getInputText));
  const printed = commands.filter(isPrinter).flatMap(({ words }) => words.map(({ text }) => text));
  return [...documents, ...printed].flatMap((code) => listCodePaths(interpreter, code))
    .map((text) => ({ text, literal: true }));
}

/** Whether a command runs the code in its input: it has only options, and none of them has code. */
function runsItsInput(command: SimpleCommand): boolean {
  const name = getProgram(command);
  const options = command.words.slice(1).map(({ text }) => text);
  return (mayRunCode(name) || SHELLS.test(name)) &&
    !VERSION.test(`${name} ${options.join(" ")}`) &&
    options.every((text) => /^-(?!\w*[ceEpr])|^-$/.test(text));
}

/** Matches a command that only prints its version or its help. `bash -v` and `python -v` run their input. */
const VERSION =
  /^\S+ --(?:version|help)$|^(?:node|bun|ruby|perl|php) -v$|^(?:python[\d.]*|deno|tmux) -V$/;

/** Whether a program that reads files gets the value of a variable, which may be the name of one. */
export function readsVariable({ words, redirects }: SimpleCommand): boolean {
  const name = getProgram({ words });
  const isReader = name === "git" || name === "cd" || mayRunCode(name) ||
    (isFileProgram(name) && !WITHOUT_FILES.has(name));
  const targets = redirects.flatMap(({ operator, target }) => operator === "<" ? target ?? [] : []);
  return [...(isReader ? words : []), ...targets]
    .some(({ text, literal }) => !literal && text.includes("$"));
}

/** Splits a text at white space, and at the escapes of it that `printf` and `echo -e` replace. */
function splitNames(text: string): readonly string[] {
  return text.split(/(?:\s|\\[nrt]|\\0(?![0-7]))+/).filter((name) => name !== "");
}

/**
 * Returns the shortest name that a quoted pattern matches, as in `find -name '.env*'`: the program may expand it. Other names
 * are left out, since `*.ts` in such a place may match any rule with a pattern.
 */
function listShortestName(text: string): readonly ShellWord[] {
  const name = text.replace(/^(?:\*+\/)+/, "").replace(/(?:\/\*+)+$/, "").replace(/\*+/g, "");
  return name === text || name === "" ? [] : [{ text: name, literal: true }];
}

interface SplitCommand {
  /** The program. */
  readonly name: string;
  /** The sub-command of git; empty for other programs. */
  readonly subcommand: string;
  /** The other words. */
  readonly args: readonly ShellWord[];
}

function splitCommand(command: SimpleCommand): SplitCommand {
  const name = getProgram(command);
  const args = command.words.slice(1);
  const position = name === "git"
    ? args.findIndex(({ text }, index) =>
      !text.startsWith("-") && !/^-[cC]$/.test(args[index - 1]?.text ?? "")
    )
    : -1;
  return {
    name,
    subcommand: args[position]?.text ?? "",
    args: args.filter((_, index) => index !== position),
  };
}

function isFileProgram(name: string): boolean {
  return FILE_PROGRAMS.has(name) || hasHarmlessForms([{ text: name, literal: true }]);
}

/** Finds the operand that is a pattern; -1 if there is none, or an option has it. */
function findPattern(name: string, args: readonly ShellWord[]): number {
  if (!WITH_PATTERN.has(name)) return -1;
  const isGlob = (option: string): boolean => GLOB_OPTIONS.get(name)?.test(option) ?? false;
  const hasPattern = args.some(({ text }) => PATTERN_OPTIONS.test(text) && !isGlob(text));
  const isFd = name === "fd" || name === "fdfind";
  if (hasPattern || (isFd && args.some(({ text }) => FD_EXECUTION.test(text)))) return -1;
  const options = VALUE_OPTIONS.get(name);
  const pairs = name === "jq" ? findPairs(args.map(({ text }) => text)) : [];
  return args.findIndex(({ text }, index) => {
    const option = args[index - 1]?.text ?? "";
    const isPair = pairs.some((pair) => index > pair && index <= pair + 2);
    return !text.startsWith("-") && !isGlob(option) && !isPair && !options?.test(option);
  });
}

/**
 * Finds the options of `jq` with two values. Those are left out that follow an option which may have a value, or a word that
 * the shell may replace by several: what looks like an option may be the value of another one.
 */
function findPairs(texts: readonly string[]): readonly number[] {
  const pairs: number[] = [];
  for (let index = 0; index < texts.length; index++) {
    const { [index]: text = "", [index + 1]: variable = "" } = texts;
    if (PAIR_OPTIONS.test(text) && /^[A-Za-z_]\w*$/.test(variable)) {
      pairs.push(index);
      index += 2;
    } else if (text.startsWith("-") && !JQ_FLAGS.test(text)) break;
    if (/[$`*?[{]/.test(texts[index] ?? "")) break;
  }
  return pairs;
}

interface WordPosition {
  readonly texts: readonly string[];
  readonly index: number;
}

/** Whether a word names what a command leaves out, or is the text of an option. */
function isExcluded(name: string, { texts, index }: WordPosition): boolean {
  const { [index]: text = "", [index - 1]: option = "" } = texts;
  if (EXCLUDING_VALUES.test(text)) return true;
  if (TEXT_OPTIONS.get(name)?.test(option)) return true;
  if (name === "jq" && findPairs(texts).some((pair) => index === pair + 2)) return true;
  if (name === "perl" && /^-\w*e$/.test(option) && PERL_EXPRESSION.test(text)) return true;
  const isGlob = GLOB_OPTIONS.get(name)?.test(option);
  if (name === "rg" && (isGlob ? /^!/ : /^(?:-g|--i?glob=)!/).test(text)) return true;
  if (EXCLUDING_OPTIONS.test(option) || OWN_EXCLUDING_OPTIONS.get(name)?.test(option)) return true;
  if (name === "git") return /^:(?:[!^]|\([^)]*exclude)/.test(text);
  return name === "find" && isPruned({ texts, index });
}

/** Sub-commands of git whose operands are branches and other revisions, never files. */
const GIT_BRANCHES = /^(?:branch|switch|merge|rebase|tag|cherry-pick|revert)$/;

/** Options before a branch. */
const BRANCH_OPTIONS =
  /^(?:-[dDmMcCfu]|--(?:delete|move|copy|force|force-with-lease|set-upstream(?:-to)?|onto|(?:no-)?ff|ff-only|squash|no-commit|no-edit|(?:no-)?track|(?:no-)?contains|(?:no-)?merged|create|detach))$/;

/** Whether a word is the name of a branch for git, such as `fix/secrets`. The values of most options may be files. */
function isBranch(subcommand: string, { texts, index }: WordPosition): boolean {
  const { [index]: text = "", [index - 1]: option = "" } = texts;
  if (text.startsWith("-")) return false;
  if (option.startsWith("-")) {
    if (/^(?:checkout|switch|worktree)$/.test(subcommand) && /^-[bBcC]$/.test(option)) return true;
    const isFirst = texts.findIndex((word) => !word.startsWith("-")) === index;
    return BRANCH_OPTIONS.test(option) &&
      (subcommand === "push" ? !isFirst : GIT_BRANCHES.test(subcommand));
  }
  // The first operand of `push` is a repository, which may be a directory.
  return GIT_BRANCHES.test(subcommand) || (subcommand === "push" && index > 0);
}

/** Maximum number of tests of `find` before a `-prune`. */
const MAX_ALTERNATIVES = 50;

const NAME_TESTS = /^-(?:i?name|i?path|i?wholename)$/;

/** Whether the value of a test of `find` is one that entries must not have: after `!`, or before `-prune -o`. */
function isPruned({ texts, index }: WordPosition): boolean {
  const at = (position: number): string => texts[position] ?? "";
  if (!NAME_TESTS.test(at(index - 1))) return false;
  if (/^(?:!|-not)$/.test(at(index - 2))) return !/^(?:!|-not|\()$/.test(at(index - 3));
  let next = index + 1;
  const end = index + MAX_ALTERNATIVES * 3;
  while (next < end && /^-or?$/.test(at(next)) && NAME_TESTS.test(at(next + 1))) next += 3;
  if (at(next) === ")") next++;
  return at(next) === "-prune" && /^-or?$/.test(at(next + 1));
}
