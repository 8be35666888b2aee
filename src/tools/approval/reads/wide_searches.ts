/**
 * Commands that may show all files of directories: searches outside the directories of a sandbox, also behind links, which any
 * repository may contain, and comparisons.
 *
 * @module
 */

import { isDirectory } from "../../../platform/is_directory.ts";
import { pathExists } from "../../../platform/path_exists.ts";
import { dirname, join } from "../../../platform/paths.ts";
import { isWithin } from "../../files/file_rules.ts";
import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { type ExecutedCommands, getProgram, runsArguments } from "../commands/executed_commands.ts";
import { listComparedPaths, mayShowFiles } from "../commands/git_arguments.ts";
import { findSubcommand } from "../commands/harmless_commands.ts";
import { findLaunched, listStartedCommands } from "../commands/launched_commands.ts";
import { findWorkingDirectory } from "../patterns/path_rules.ts";
import { expandWord, listSearchOperands } from "./search_operands.ts";
import {
  findRepository,
  isKnown,
  isOutside,
  KNOWN_VARIABLE,
  listBases,
  type ListBudget,
  listDirectories,
  MAX_LISTS,
  MAX_PATHS,
  PATTERN,
} from "./searched_directories.ts";
import { WITHOUT_CONTENT } from "./unknown_reads.ts";

/** Programs that search directories, without an operand the one they are in. */
const SEARCHERS = /^(?:rg|rga|ag|ug|ugrep)$/;

/** Programs that search directories with the options of `RECURSIVE`. */
const GREPS = /^(?:g?[ef]?grep|(?:bz|xz|z|zst)[ef]?grep|pcre2?grep)$/;

/** Options with which `grep` searches a directory, whatever its files are called, as `rg` and `ag` do. */
const RECURSIVE = /^-(?!-)\w*[rR]|^--(?:der|rec|di)|^-\w*d/;

/** Programs that read the files which are named to them, and no directories. */
const FILE_READERS =
  /^(?:awk|base64|bat|cat|cmp|column|comm|cut|[ef]?grep|file|fmt|fold|[gmn]awk|head|hexdump|jq|less|more|nl|od|paste|rev|sed|sort|strings|tac|tail|tr|uniq|xxd|zgrep)$/;

/** An option with its value in the same word, which may be a directory, as in `--directory=../other`, `-kCother` and `-I../other`. */
const ATTACHED_VALUE = /^(?:--?[\w-]+=|-[A-Za-z]*C|-\w+(?=[./~]))(.+)$/s;

/** Variables that decide where `cd` leads, and what the words of `KNOWN_VARIABLE` mean. */
const PLACES = /^(?:CDPATH|HOME|OLDPWD|PWD|GIT_\w*(?:DIR|TREE|DIRECTORIES)|GIT_CONFIG\w*)$/;

/** Where the commands of a script run. */
export interface ScriptPlace {
  readonly files: Sandbox["files"];
  /** The directories in which the shell may be. Default: the working directory of the sandbox. */
  readonly directories?: readonly string[] | undefined;
  /** Commands that may run before those of the script. Default: none. */
  readonly earlier?: readonly SimpleCommand[] | undefined;
}

/** A command that may show all files of directories. */
interface DirectorySearch {
  /** The files and directories that it may search. */
  readonly operands: readonly ShellWord[];
  /** Whether it searches the directory of the shell. */
  readonly isBare: boolean;
  /** The program that compares the operands, if one does. */
  readonly comparison?: "diff" | "git" | undefined;
}

/**
 * How a script may show all files of a directory, also those with secrets: it searches one outside those of a sandbox, where
 * nothing hides them, or passes it to a program that may do so; or it compares two.
 */
export type WideSearch = "outside" | "comparison";

/** Finds how a script may show all files of a directory; `undefined` if it does not. */
export async function findWideSearch(
  script: ExecutedCommands,
  { files, directories, earlier = [] }: ScriptPlace,
): Promise<WideSearch | undefined> {
  const root = await findWorkingDirectory(files);
  if (root === undefined) return undefined;
  const commands = listStartedCommands(script);
  try {
    const searches = commands.flatMap((command) => findSearch(command, root));
    const operands = listUnique(searches.flatMap((search) => search.operands));
    const isBare = searches.some((search) => search.isBare);
    const inputs = listInputs(commands);
    if (operands.length === 0 && inputs.length === 0 && !isBare) return undefined;
    const targets = [...earlier, ...commands].flatMap(listTargets);
    if (isUnclear(commands, { operands, targets })) return "outside";
    const budget = { left: MAX_LISTS };
    const { repeats } = script;
    const bases = await listBases(directories ?? [root], { targets, repeats, budget });
    if (bases.size * Math.max(operands.length, inputs.length) > MAX_PATHS) return "outside";
    // A program can search a directory that it gets as its input, by the path of the descriptor.
    if (inputs.some((word) => mayBeDirectory(word, { bases, budget }))) return "outside";
    const paths = new Set([...bases].flatMap((base) => [
      ...isBare ? [base] : [],
      ...operands.flatMap((word) => listDirectories(word, base, budget)),
    ]));
    if (paths.size > MAX_PATHS) return "outside";
    const outside = await Promise.all([...paths].map((path) => isOutside(path, files)));
    if (outside.includes(true)) return "outside";
    return searches.some((search) => comparesDirectories(search, { bases, root, budget }))
      ? "comparison"
      : undefined;
  } catch {
    return "outside"; // A pattern has too many alternatives or is too long, or a value is not known.
  }
}

/** Whether it is not clear to which directories the operands of searches, and the targets of moves, lead. */
function isUnclear(
  commands: readonly SimpleCommand[],
  { operands, targets }: {
    readonly operands: readonly ShellWord[];
    readonly targets: readonly ShellWord[];
  },
): boolean {
  const isPlaced = targets.length > 0 || operands.some(({ text }) => KNOWN_VARIABLE.test(text));
  if (isPlaced && commands.some(setsPlace)) return true;
  const isExpanded = [...operands, ...targets].some(({ literal }) => !literal);
  if (isExpanded && commands.some(changesPatterns)) return true;
  const isElsewhere = commands.some(startsElsewhere);
  const isMoved = commands.some((command) =>
    !startsElsewhere(command) && listTargets(command).length > 0
  );
  return isElsewhere && (operands.length > 0 || isMoved);
}

function listUnique(words: readonly ShellWord[]): readonly ShellWord[] {
  return [...new Map(words.map((word) => [`${word.literal} ${word.text}`, word])).values()];
}

/** Whether a command may show all files of a directory, depending on where it runs. */
export function maySearch(command: SimpleCommand): boolean {
  try {
    return findSearch(command, "/").some(({ operands, isBare }) => isBare || operands.length > 0);
  } catch {
    return true; // A pattern has too many alternatives or is too long.
  }
}

function findSearch(command: SimpleCommand, root: string): readonly DirectorySearch[] {
  const { program, args } = readProgram(command);
  const isGrep = GREPS.test(program) && args.some(({ text }) => RECURSIVE.test(text));
  if (isGrep || SEARCHERS.test(program)) {
    const operands = listSearchOperands(program, args);
    return [{ operands, isBare: operands.length === 0 }];
  }
  if (program === "git") {
    const texts = args.map(({ text }) => text);
    if (findSubcommand(texts) === "grep") {
      // It searches a repository only, which is that of the directory, and may have directories above it.
      const rest = args.slice(texts.indexOf("grep") + 1);
      const operands = listSearchOperands("grep", rest).map((word) => toDirectory(word, root));
      return [{ operands, isBare: true }];
    }
    const compared = listComparedPaths(texts);
    const operands = args.filter(({ text }) => compared.includes(text)).flatMap(expandWord)
      .filter(isKnown);
    const comparison = operands.length === 2 ? "git" : undefined;
    const other = texts.includes("archive")
      ? listOptionValues(args, /^--remo\w*(?:=|$)(.*)$/s)
      : [];
    return [{
      operands: [...operands, ...other],
      isBare: mayShowFiles(texts),
      comparison,
    }];
  }
  if (program === "" || FILE_READERS.test(program)) return [];
  if (WITHOUT_CONTENT.has(program) || runsArguments(program)) return [];
  const operands = args.flatMap(toOperands).flatMap(expandWord).filter(isKnown);
  return [{ operands, isBare: false, comparison: program === "diff" ? program : undefined }];
}

/** Reads a program and its arguments; those of git also behind the name of a sub-command, as in `git-core/git-show`. */
function readProgram(
  command: SimpleCommand,
): { readonly program: string; readonly args: readonly ShellWord[] } {
  const program = getProgram(command);
  const args = command.words.slice(1);
  const [, subcommand] = /^git-(.+)$/s.exec(program) ?? [];
  return subcommand === undefined
    ? { program, args }
    : { program: "git", args: [{ text: subcommand, literal: true }, ...args] };
}

/** Returns what a word names for a program whose options are not known: itself, or the value of an option in it. */
function toOperands(word: ShellWord): readonly ShellWord[] {
  if (!/^-|^$/.test(word.text)) return [word];
  const [, value] = ATTACHED_VALUE.exec(word.text) ?? [];
  return value === undefined ? [] : [{ ...word, text: value }];
}

/** Returns the directory in which git looks for a path pattern, whose wildcards it expands itself. */
function toDirectory({ text, literal }: ShellWord, root: string): ShellWord {
  if (/^:(?:\/|\([^)]*top)/.test(text)) {
    return { text: findRepository(root) ?? root, literal: true };
  }
  const path = text.replace(/^:\([^)]*\)/, "");
  const end = literal ? path.search(PATTERN) : -1;
  return { text: end === -1 ? path : dirname(`${path.slice(0, end)}*`), literal };
}

/** Whether `diff` compares two directories, or git does, without a repository or with one of them outside of it. */
function comparesDirectories(
  { operands, comparison }: DirectorySearch,
  { bases, root, budget }: {
    readonly bases: ReadonlySet<string>;
    readonly root: string;
    readonly budget: ListBudget;
  },
): boolean {
  if (comparison === undefined) return false;
  return [...bases].some((base) => {
    const found = operands.map((word) => listDirectories(word, base, budget));
    const directories = found.filter((paths) => paths.some(isDirectory));
    if (comparison === "diff") return directories.length > 1;
    return found.every((paths) => paths.some(pathExists)) && directories.length > 0 &&
      (findRepository(root) === undefined ||
        found.flat().some((path) => !isWithin(join(path), root)));
  });
}

/** Whether a command sets a variable that decides where `cd` leads. */
export function setsPlace({ words, assignments }: SimpleCommand): boolean {
  return assignments.some((name) => PLACES.test(name)) ||
    words.some(({ text }) => PLACES.test(/^(\w+)\+?=/.exec(text)?.[1] ?? ""));
}

/** Whether a command changes which names the patterns of the script match: in another case, or in deeper directories. */
function changesPatterns(command: SimpleCommand): boolean {
  return getProgram(command) === "shopt" &&
    command.words.some(({ text }) => /^(?:nocaseglob|globstar)$/.test(text));
}

/** Whether `find` starts a command in the directories of the files that it finds. */
function startsElsewhere(command: SimpleCommand): boolean {
  return /^g?find$/.test(getProgram(command)) &&
    command.words.some(({ text }) => /^-(?:exec|ok)dir$/.test(text));
}

/** Lists what redirections open for reading. */
function listInputs(commands: readonly SimpleCommand[]): readonly ShellWord[] {
  const inputs = commands.flatMap(({ redirects }) => redirects).flatMap(({ operator, target }) =>
    /^<>?$/.test(operator) && target ? expandWord(target) : []
  );
  return listUnique(inputs.filter(isKnown));
}

function mayBeDirectory(
  word: ShellWord,
  { bases, budget }: { readonly bases: ReadonlySet<string>; readonly budget: ListBudget },
): boolean {
  return [...bases].some((base) => listDirectories(word, base, budget).some(isDirectory));
}

/** Lists where a command moves the shell, or starts another command. */
function listTargets(command: SimpleCommand): readonly ShellWord[] {
  const { words: [, ...args] } = command;
  switch (getProgram(command)) {
    case "cd":
    case "pushd": {
      const end = args.findIndex(({ text }) => text === "--");
      const operands = args.filter(({ text }, index) =>
        !/^-[A-Za-z@]+$/.test(text) || (end !== -1 && index > end)
      );
      // Without an operand it is the home directory.
      return operands.length > 0 ? operands.flatMap(expandWord) : [{ text: "~", literal: false }];
    }
    case "env":
    case "genv":
      return listOptionValues(args, /^(?:-(?!-)\w*?C|--c\w*(?:=|$))(.*)$/s);
    case "find":
    case "gfind": {
      // It starts the command in each directory that has a file, for those in its arguments in the ones above.
      if (!startsElsewhere(command)) return [];
      if (args.some(({ text }) => /^-(?:D|L|follow|files0)/.test(text))) {
        throw new RangeError("The directories may be behind links, or in another argument");
      }
      const words = args.filter(({ text }) => !/^-(?:[HP]|O\d*|-)$/.test(text));
      const starts = words.slice(0, words.findIndex(({ text }) => /^[-(!]/.test(text)));
      const above = starts.filter(({ text }) => !/^\.\/*$/.test(text))
        .map((word) => ({ ...word, text: `${word.text}/..` }));
      return [...starts, ...above];
    }
    case "git":
      return listOptionValues(args, /^-C(.*)$/s);
    case "unshare":
    case "nsenter":
      return listOptionValues(args, /^(?:-(?!-)\w*?w|--wd?(?:=|$))(.*)$/s);
    default:
      return findLaunched(command, () => true).length > 0
        ? listOptionValues(args, /^--(?:chdir|cwd|dir|directory|prefix|working-directory)=(.+)$/s)
        : [];
  }
}

/** Lists the values of an option, in the same word or in the next one. */
function listOptionValues(args: readonly ShellWord[], option: RegExp): readonly ShellWord[] {
  return args.flatMap((word, index) => {
    const value = option.exec(word.text)?.[1];
    if (value === undefined) return [];
    return value === "" ? args.slice(index + 1, index + 2) : [{ ...word, text: value }];
  });
}
