/**
 * The commands that only read, as exact forms: a program with the options and arguments listed here. A command that is
 * not of such a form is not harmless.
 *
 * @module
 */

import type { ShellRedirect, ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { listComparedPaths } from "./git_arguments.ts";
import { isHarmlessSed } from "./plain_sed.ts";

/** Arguments of a program that make it only read. */
interface CommandForm {
  /** Letters of options without a value, which may be combined. */
  readonly flags?: string;
  /** Letters of options with a value, in the same word or the next one. */
  readonly valued?: string;
  /** Long options: `name`, or `name=` with a value in the same word. */
  readonly long?: string;
  /** Whether `-5` is an option. */
  readonly numeric?: boolean;
  /** Maximum number of operands. Default: any. */
  readonly operands?: number;
  /** Matches each operand. */
  readonly operand?: RegExp;
  /** Matches no argument. */
  readonly unsafe?: RegExp;
  /** Matches at least one operand. */
  readonly needs?: RegExp;
}

/** Decides about the arguments of a program that has no {@linkcode CommandForm}. */
type ArgumentCheck = (args: readonly string[]) => boolean;

const NO_OPTIONS: CommandForm = {};
const NO_ARGUMENTS: CommandForm = { operands: 0 };
const DIGEST: CommandForm = { flags: "bct", long: "binary text check" };

/** Options with which programs that otherwise run code print their version; without one they run their input. */
const VERSION_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["deno", /^(?:-V|--version)$/],
  ["node", /^(?:-v|--version)$/],
  ["python", /^(?:-V|--version)$/],
  ["python3", /^(?:-V|--version)$/],
]);

/** Matches paths that have the form of a file. */
const FILE_FORM = /(?:^|\/)(?:[^/]*[^/.]\.[A-Za-z]\w*|-|(?:Make|Docker)file|LICENSE|README)$/;

const GIT_HISTORY: CommandForm = {
  flags: "pswbuRrtzEFiPMW",
  valued: "nSGLU",
  numeric: true,
  long:
    "oneline graph all stat stat= shortstat numstat name-only name-status patch no-patch decorate decorate= " +
    "abbrev-commit no-abbrev-commit abbrev= follow reverse first-parent merges no-merges branches tags remotes " +
    "max-count= skip= since= until= after= before= author= committer= grep= format= pretty= pretty date= relative-date " +
    "date-order topo-order cached staged summary raw no-color color color= word-diff word-diff= color-words unified= " +
    "ignore-all-space ignore-space-change minimal patience histogram diff-algorithm= diff-filter= find-renames " +
    "no-renames no-ext-diff no-textconv exit-code quiet check full-index binary left-right cherry-pick no-notes " +
    "max-count skip since until after before author committer grep source function-context compact-summary " +
    "simplify-by-decoration ancestry-path no-prefix ignore-blank-lines",
  // The placeholders of signatures run gpg.
  unsafe: /%[-+ ]?G/,
};

/** Sub-commands of git that only read. Git takes abbreviated options, which are not listed here. */
const GIT_FORMS: ReadonlyMap<string, CommandForm> = new Map<string, CommandForm>([
  ["--version", NO_ARGUMENTS],
  ["status", {
    flags: "sbvz",
    long:
      "short branch no-branch porcelain porcelain= long verbose ignored show-stash ahead-behind " +
      "untracked-files untracked-files= no-renames",
  }],
  ["log", GIT_HISTORY],
  ["show", GIT_HISTORY],
  ["diff", GIT_HISTORY],
  ["shortlog", { flags: "nse", long: "numbered summary email all no-merges", operands: 9 }],
  ["rev-list", {
    valued: "n",
    long: "all count max-count= no-merges merges first-parent reverse",
    numeric: true,
  }],
  ["blame", { flags: "lstfnwe", valued: "L", long: "porcelain line-porcelain show-email" }],
  ["grep", {
    flags: "nilLcwEFPhHvIoqpW",
    valued: "eABCm",
    long:
      "line-number ignore-case files-with-matches count word-regexp extended-regexp fixed-strings " +
      "perl-regexp cached name-only show-function and or not",
    numeric: true,
  }],
  ["ls-files", {
    flags: "cdmosuktvz",
    long: "cached deleted modified others stage unmerged exclude-standard full-name error-unmatch",
  }],
  ["ls-tree", { flags: "drtlz", long: "name-only name-status long full-name full-tree" }],
  ["rev-parse", {
    long: "abbrev-ref short short= show-toplevel show-prefix show-cdup git-dir verify quiet " +
      "is-inside-work-tree is-bare-repository symbolic-full-name",
  }],
  ["describe", { long: "tags all always long abbrev= exact-match" }],
  ["cat-file", { flags: "tspe" }],
  ["merge-base", { flags: "a", long: "all is-ancestor octopus" }],
  ["branch", {
    flags: "arv",
    long: "all remotes list verbose show-current no-color",
    operands: 0,
  }],
  ["tag", { flags: "l", long: "list", operands: 0 }],
  ["remote", { flags: "v", long: "verbose", operands: 0 }],
  ["reflog", { operands: 1, operand: /^show$/ }],
]);

const FORMS: ReadonlyMap<string, CommandForm> = new Map<string, CommandForm>([
  ["arch", NO_ARGUMENTS],
  ["base64", { flags: "d", operands: 1 }],
  ["basename", { flags: "az", valued: "s" }],
  ["cat", { flags: "AbeEnstTuv", long: "number show-all" }],
  ["cd", { flags: "LP", operands: 1 }],
  ["cksum", NO_OPTIONS],
  ["cmp", { flags: "bls", operands: 2 }],
  ["column", { flags: "tx", valued: "sc" }],
  ["comm", { flags: "123" }],
  ["command", { flags: "vV" }],
  ["cut", { flags: "sn", valued: "bcdf", long: "complement fields= delimiter= characters=" }],
  ["date", {
    flags: "uR",
    long: "utc date= iso-8601 iso-8601= rfc-3339=",
    operands: 1,
    operand: /^\+/,
  }],
  ["df", { flags: "hHkTimPa", long: "human-readable" }],
  // With -N it prints the files of one directory, also those with secrets.
  ["diff", {
    flags: "abBcdeipqstTuwyZ",
    valued: "UCx",
    long: "unified= brief ignore-all-space ignore-blank-lines side-by-side color color= exclude=",
    // Of two directories it compares all files, also those with secrets. One of these has the form of a file.
    needs: FILE_FORM,
  }],
  ["dirname", { flags: "z" }],
  ["du", {
    flags: "abchHkLlmsSx0",
    valued: "d",
    long: "max-depth= human-readable summarize total all apparent-size",
  }],
  ["expand", { valued: "t" }],
  ["expr", NO_OPTIONS],
  ["file", { flags: "biLhk", long: "brief mime mime-type mime-encoding" }],
  ["fmt", { valued: "w" }],
  ["fold", { flags: "bs", valued: "w" }],
  // Recursion reads every file, also those with secrets; `git grep` and `rg` read what the repository contains.
  ["grep", {
    flags: "abcEFGhHiIlLnoPqsUvwxyzZT",
    valued: "ABCem",
    long:
      "line-number ignore-case files-with-matches files-without-match count only-matching context= " +
      "after-context= before-context= max-count= word-regexp line-regexp fixed-strings extended-regexp perl-regexp " +
      "invert-match quiet no-messages with-filename no-filename color color= regexp=",
    numeric: true,
  }],
  ["groups", NO_ARGUMENTS],
  ["head", { flags: "qvz", valued: "nc", long: "lines= bytes= quiet", numeric: true }],
  ["hexdump", { flags: "bcCdovx", valued: "ns" }],
  ["hostname", NO_ARGUMENTS],
  ["id", { flags: "agGnruz" }],
  ["jq", {
    flags: "acCejMnrsS",
    long:
      "raw-output compact-output null-input slurp sort-keys raw-input tab exit-status join-output",
    // `env` and `$ENV` are the environment; `import` and `include` load modules.
    unsafe: /env|ENV|import|include/,
  }],
  ["ls", {
    flags: "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
    long:
      "all almost-all human-readable recursive reverse color color= sort= time= time-style= full-time inode size " +
      "directory classify group-directories-first numeric-uid-gid dereference",
  }],
  ["md5sum", DIGEST],
  ["nl", { valued: "bwsvn" }],
  ["nproc", { long: "all", operands: 0 }],
  ["od", { flags: "abcdfiloxsv", valued: "AtjN" }],
  ["paste", { flags: "sz", valued: "d" }],
  ["pwd", { flags: "LP", operands: 0 }],
  ["readlink", { flags: "efmn" }],
  ["realpath", { flags: "emqsz", long: "relative-to= relative-base=" }],
  ["rev", NO_OPTIONS],
  ["rg", {
    flags: "acFHiIlnNoPqsSvwxU0",
    valued: "ABCetTmMd",
    long:
      "files files-with-matches files-without-match count count-matches ignore-case smart-case line-number " +
      "type= type-not= max-count= max-depth= context= after-context= before-context= json multiline no-heading heading " +
      "sort= stats word-regexp fixed-strings only-matching color= column vimgrep trim version",
  }],
  ["seq", { flags: "w", valued: "sf" }],
  ["sha1sum", DIGEST],
  ["sha256sum", DIGEST],
  ["sha512sum", DIGEST],
  ["sleep", { operands: 1, operand: /^\d{1,2}(?:\.\d+)?s?$/ }],
  ["sort", {
    flags: "bcCdfghiMmnrRsuVz",
    valued: "kt",
    long:
      "reverse numeric-sort unique ignore-case human-numeric-sort version-sort stable check key= field-separator=",
  }],
  ["stat", { flags: "Lftx", valued: "c", long: "format= printf= dereference file-system terse" }],
  ["strings", { flags: "a", valued: "nt" }],
  ["tac", NO_OPTIONS],
  ["tail", { flags: "qvz", valued: "nc", long: "lines= bytes= quiet", numeric: true }],
  ["tr", { flags: "cCdst", long: "delete squeeze-repeats complement" }],
  ["tree", { flags: "aACdDfFghinNpqrstuvx", valued: "LIP", long: "dirsfirst noreport prune" }],
  ["type", { flags: "aptP" }],
  ["uname", { flags: "aimnoprsv" }],
  ["uniq", {
    flags: "cdDiuz",
    valued: "fsw",
    long: "count repeated unique ignore-case",
    operands: 1,
  }],
  ["wc", { flags: "clLmw", long: "lines words bytes chars" }],
  ["which", { flags: "a" }],
  ["whoami", NO_ARGUMENTS],
  ["xxd", { flags: "bipu", operands: 1 }],
]);

const FILE_TESTS = /^-[abcdefghkprstuwxzGLNOSn]$/;
const COMPARISONS = /^(?:=|==|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;

function checkTest(args: readonly string[]): boolean {
  const [first = "", second = "", third] = args[0] === "!" ? args.slice(1) : args;
  if (args.length > (args[0] === "!" ? 4 : 3)) return false;
  if (third !== undefined) return COMPARISONS.test(second);
  return second === "" ? !first.startsWith("-") || first === "-" : FILE_TESTS.test(first);
}

const CHECKS: ReadonlyMap<string, ArgumentCheck> = new Map<string, ArgumentCheck>([
  [":", () => true],
  ["true", () => true],
  ["false", () => true],
  ["echo", () => true],
  ["test", checkTest],
  ["[", (args) => args.at(-1) === "]" && checkTest(args.slice(0, -1))],
  ["printf", checkPrintf],
  ["sed", isHarmlessSed],
  ["find", checkFind],
]);

/** `printf format argument…`; the conversion `%n` assigns a variable. */
function checkPrintf([format = ""]: readonly string[]): boolean {
  return !format.startsWith("-") &&
    !/%[-+ #0']*(?:\*|\d*)(?:\.(?:\*|-?\d*))?[hjlLtz]*n/.test(format.replaceAll("%%", ""));
}

/** The tests of `find` that have a value. */
export const FIND_TESTS: ReadonlySet<string> = new Set(
  "-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -perm -user -group"
    .split(" "),
);
const FIND_WORDS: ReadonlySet<string> = new Set(
  "-print -print0 -not ! -o -or -a -and ( ) -empty -prune -L -H -P".split(" "),
);

function checkFind(args: readonly string[]): boolean {
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    if (FIND_TESTS.has(word)) index++;
    else if (/^[-(!),]/.test(word) && !FIND_WORDS.has(word)) return false;
  }
  return true;
}

/** Whether a command is of a harmless form. */
export function isHarmlessCommand({ words, redirects, assignments }: SimpleCommand): boolean {
  if (assignments.length > 0 || !redirects.every(isHarmlessRedirect)) return false;
  if (!words.every(({ literal }) => literal)) return false;
  const [name, ...args] = words.map(({ text }) => text);
  return name === undefined || hasHarmlessArguments(name, args);
}

/** Programs that read no files in their harmless forms. */
export const WITHOUT_FILES: ReadonlySet<string> = new Set(
  ": [ arch cd command date echo expr false groups hostname id nproc printf pwd seq sleep test true type uname which whoami"
    .split(" "),
);

/** Programs that read their input instead of files, by the number of operands that are no files. */
const FILTERS: ReadonlyMap<string, number> = new Map([
  ...withOperands(
    "cat base64 column cut fmt fold head nl od rev sort tac tail uniq wc",
    0,
  ),
  ...withOperands("grep jq", 1),
  ["tr", 2],
]);

function withOperands(names: string, operands: number): (readonly [string, number])[] {
  return names.split(" ").map((name) => [name, operands]);
}

/** Whether a harmless command reads no files, only its input. */
export function readsOnlyInput(command: SimpleCommand): boolean {
  const { words: [name, ...args], redirects } = command;
  if (!isHarmlessCommand(command) || redirects.some(readsFile)) return false;
  if (name === undefined || WITHOUT_FILES.has(name.text)) return true;
  // The operand of grep is a file if an option has the pattern.
  const hasPattern = name.text === "grep" &&
    args.some(({ text }) => /^-(?:\w*e|-regexp)/.test(text));
  const operands = hasPattern ? 0 : FILTERS.get(name.text);
  const form = FORMS.get(name.text);
  return operands !== undefined && form !== undefined &&
    matchesForm(args.map(({ text }) => text), { ...form, operands });
}

function readsFile({ operator, target }: ShellRedirect): boolean {
  return operator === "<" && target?.text !== "/dev/null";
}

/** Whether a program, or a sub-command of git, is harmless in certain forms other than printing its version. */
export function hasHarmlessForms(words: readonly ShellWord[]): boolean {
  const [name = "", ...args] = words.map(({ text }) => text);
  if (name === "git") return GIT_FORMS.has(findSubcommand(args));
  return FORMS.has(name) || CHECKS.has(name);
}

function hasHarmlessArguments(name: string, args: readonly string[]): boolean {
  if (name === "git") {
    if (comparesDirectories(listComparedPaths(args))) return false;
    const [subcommand = "", ...rest] = skipPagerOption(args);
    return matchesForm(rest, GIT_FORMS.get(subcommand));
  }
  const version = VERSION_OPTIONS.get(name);
  if (version) return args.length === 1 && version.test(args[0] ?? "");
  return CHECKS.get(name)?.(args) ?? matchesForm(args, FORMS.get(name));
}

/** Whether git compares all files of two directories, also those with secrets: one of two operands is not in the repository. */
function comparesDirectories(operands: readonly string[]): boolean {
  return operands.length === 2 && !operands.some((path) => FILE_FORM.test(path)) &&
    operands.some((path) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path));
}

/** Returns the sub-command among the arguments of git. */
export function findSubcommand(args: readonly string[]): string {
  const index = args.findIndex((arg, index) =>
    !arg.startsWith("-") && !/^-[Cc]$/.test(args[index - 1] ?? "")
  );
  return args[index] ?? args[0] ?? "";
}

function skipPagerOption(args: readonly string[]): readonly string[] {
  return args[0] === "--no-pager" ? args.slice(1) : args;
}

function matchesForm(args: readonly string[], form: CommandForm | undefined): boolean {
  if (!form || args.some((arg) => form.unsafe?.test(arg))) return false;
  let operands = 0;
  let isOptionsEnd = false;
  let isComplete = form.needs === undefined;
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (isOptionsEnd || arg === "-" || !arg.startsWith("-")) {
      operands++;
      isComplete ||= form.needs?.test(arg) === true;
      if (form.operand?.test(arg) === false) return false;
    } else if (arg === "--") isOptionsEnd = true;
    else if (arg.startsWith("--")) {
      if (!hasLongOption(form, arg.slice(2))) return false;
    } else if (!(form.numeric && /^-\d+$/.test(arg))) {
      const value = findOptionValue(form, arg);
      if (value === "unknown") return false;
      if (value === "next") index++;
    }
  }
  return isComplete && (form.operands === undefined || operands <= form.operands);
}

function hasLongOption({ long = "" }: CommandForm, option: string): boolean {
  return long.split(" ").includes(option.replace(/=.*$/s, "="));
}

/** Whether the value of an option is the next word. */
function findOptionValue(
  { flags = "", valued = "" }: CommandForm,
  option: string,
): "none" | "next" | "unknown" {
  for (let index = 1; index < option.length; index++) {
    const letter = option.charAt(index);
    if (valued.includes(letter)) return index === option.length - 1 ? "next" : "none";
    if (!flags.includes(letter)) return "unknown";
  }
  return "none";
}

/** Whether a redirection neither writes to a file nor opens a connection. */
export function isHarmlessRedirect({ operator, target }: ShellRedirect): boolean {
  if (operator === "<<" || operator === "<<-") return true;
  if (!target?.literal) return false;
  switch (operator) {
    case "<<<":
      return true;
    case "<":
      return !target.text.startsWith("/dev/") || target.text === "/dev/null";
    case "<&":
    case ">&":
      return /^(?:\d|-)$/.test(target.text);
    case ">":
    case ">>":
    case ">|":
    case "&>":
    case "&>>":
      return /^\/dev\/(?:null|stdout|stderr)$/.test(target.text);
    case "<>":
      return false;
  }
}
