/**
 * Whether a script reads only files that `find` finds by the patterns of its text, such as
 * `find . -name '*.ts' | xargs grep foo`.
 *
 * @module
 */

import type { SimpleCommand } from "../../kit/simple_command.ts";
import { type ExecutedCommands, getProgram } from "../commands/executed_commands.ts";
import { FIND_TESTS, isHarmlessRedirect } from "../commands/harmless_commands.ts";

/** Programs that show the files which are named to them, and no others. */
const READERS = /^(?:cat|[ef]?grep|head|tail|nl|sort|wc|ls|stat|file|du)$/;

/** Options for further files: those of a directory, which is the working directory if nothing was found, or of a list. */
const WIDE = /^-(?!-)\w*[rRdf]|^--(?:rec|de|di|file|null)/;

/** Programs that pass on lines of their input as they are, or count them, by the arguments with which they do. */
const FILTERS: ReadonlyMap<string, RegExp> = new Map([
  ["grep", /^(?:-[vEFiwc]+ )*[^- ][^ ]*$/],
  ["head", /^(?:-n ?|-)\d+$|^$/],
  ["tail", /^(?:-n ?|-)\d+$|^$/],
  ["sort", /^(?:-[unrz]+)?$/],
  ["uniq", /^(?:-[cdu]+)?$/],
  ["wc", /^(?:-[lwc]+)?$/],
]);

/** Options of `xargs` that change nothing about the names, with their values. */
const XARGS_OPTIONS = /^(?:-[0rt]+|-[nLP]\d*|\d+|--null|--no-run-if-empty)$/;

/** Characters that separate names, or that `xargs` or a pattern of `find` removes; errors of `find` repeat its arguments. */
const SEPARATORS = /[\s"'\\]/;

/** The words that represent the names which `find -exec` and `xargs` pass. */
const NAMES: ReadonlySet<string> = new Set(["{}", "$ARGUMENTS"]);

/**
 * Whether `find` finds all files that a script reads.
 *
 * @param mayBeSecret Whether a pattern of names may match a file with secrets.
 */
export function readsFoundFiles(
  { commands, plain }: ExecutedCommands,
  mayBeSecret: (pattern: string) => boolean,
): boolean {
  const isAllowed = (command: SimpleCommand): boolean => {
    const { words: [, ...words], assignments, redirects } = command;
    if (assignments.length > 0 || !redirects.every(isOutput)) return false;
    const program = getProgram(command);
    const names = words.filter(({ text }) => NAMES.has(text));
    const args = words.filter(({ text }) => program === "find" || !NAMES.has(text));
    if (!args.every(({ literal }) => literal)) return false;
    const texts = args.map(({ text }) => text);
    if (program === "find") return findsKnownFiles(texts, mayBeSecret);
    if (program === "xargs") return hasPlainOptions(texts);
    if (names.length > 0) return READERS.test(program) && !texts.some((text) => WIDE.test(text));
    return FILTERS.get(program)?.test(texts.join(" ")) === true;
  };
  const isFind = (command: SimpleCommand): boolean => getProgram(command) === "find";
  return plain && commands.some(isFind) && commands.every(isAllowed) && !readsNames(commands);
}

/** Whether `xargs` may take what a reader prints for names of files. */
function readsNames(commands: readonly SimpleCommand[]): boolean {
  const starts = commands.filter((command) => getProgram(command) === "xargs");
  const inner = commands.filter(({ words }) => words.slice(1).some(({ text }) => NAMES.has(text)));
  const printers = inner.filter((command) =>
    getProgram(command) !== "find" && !listsFiles(command)
  );
  // The last command that gets names may print anything.
  return starts.length > 0 && printers.some((command) => command !== inner.at(-1));
}

/** Whether a command prints nothing but the names of files that it gets: `grep -l pattern`. */
function listsFiles(command: SimpleCommand): boolean {
  const [, options = "", pattern = "", ...names] = command.words.map(({ text }) => text);
  return /^[ef]?grep$/.test(getProgram(command)) && /^-[EFilqsw]*l[EFilqsw]*$/.test(options) &&
    !/^-|^$/.test(pattern) && names.every((text) => NAMES.has(text));
}

function isOutput(redirect: SimpleCommand["redirects"][number]): boolean {
  return isHarmlessRedirect(redirect) && !redirect.operator.startsWith("<");
}

/** Whether `find` finds only files whose names match a pattern in its arguments, which prints nothing else. */
function findsKnownFiles(
  args: readonly string[],
  mayBeSecret: (pattern: string) => boolean,
): boolean {
  let isNamed = false;
  for (let index = 0; index < args.length; index++) {
    const isNegated = /^(?:!|-not)$/.test(args[index] ?? "");
    if (isNegated) index++;
    const { [index]: word = "", [index + 1]: value = "" } = args;
    if (SEPARATORS.test(word)) return false;
    if (FIND_TESTS.has(word)) {
      index++;
      if (SEPARATORS.test(value)) return false;
      const isPattern = /^-i?name$/.test(word) && !isNegated;
      if (isPattern && mayBeSecret(value.toLowerCase())) return false;
      isNamed ||= isPattern;
    } else if (word === "-exec") {
      // Its command is one of the script.
      while (index < args.length && !/^[;+]$/.test(args[index] ?? "")) index++;
      if (args[index] === "+" && args[index - 1] !== "{}") return false;
    } else if (/^[-(),!]/.test(word) && !/^-(?:print0?|prune|empty|[HLP])$/.test(word)) {
      return false;
    }
  }
  return isNamed;
}

function hasPlainOptions(args: readonly string[]): boolean {
  const start = args.findIndex((text) => !XARGS_OPTIONS.test(text));
  return start >= 0 && READERS.test(args[start] ?? "");
}
