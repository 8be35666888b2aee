/**
 * Code in the arguments and the input of programs.
 *
 * @module
 */

import type { ShellWord } from "../../kit/simple_command.ts";
import { type ExecutedCommands, getProgram } from "./executed_commands.ts";
import {
  CODE_MODULE,
  createProgramTest,
  hasInputScript,
  isLanguage,
  mayRunInput,
  runsCommands,
  TESTERS,
} from "./interpreters.ts";
import { listStartedCommands } from "./launched_commands.ts";
import { INPUT_FILE } from "./runs_input.ts";

/** Programs that run a file which they get, or that of the option `-f`. */
const runsFile = createProgramTest("[bg]?make [gmn]?awk cmake just ninja rake");

/** Whether a script may pass code to an interpreter as a file that is its input. */
export function passesInputAsCode(script: ExecutedCommands): boolean {
  const runners = listStartedCommands(script).filter((command) => {
    const program = getProgram(command);
    return isLanguage(program) || runsFile(program);
  });
  const isInput = ({ text }: ShellWord) => INPUT_FILE.test(text);
  return runners.length > 0 && script.words.some(isInput) ||
    runners.some((command) => command.words.some(isFileOfScript));
}

/** Whether a word is a file that the shell makes of the output of commands, for which `awk` has its program in another word. */
function isFileOfScript({ text }: ShellWord, index: number, words: readonly ShellWord[]): boolean {
  const isAwk = AWK.test(getProgram({ words }));
  return text.includes("<(") && (!isAwk || /^-/.test(words[index - 1]?.text ?? ""));
}

/** Arguments with code. */
const CODE =
  /^-(?!-)\w*[ceEpr]|^-$|^--(?:eval|expr|print|require|import)\b|^(?:eval|repl)$|(?:^|=)\s*[dD][aA][tT][aA]:/;

/** Such arguments of one language, whose letters have other meanings elsewhere. */
const OWN_CODE: ReadonlyMap<string, RegExp> = new Map([
  ["node", /^-\w*i|^--inter/],
  ["perl", /^-[mM]-?[\w:]+[^\w:=,]/],
  ["php", /^-\w*[BR]/],
  ["swipl", /^-\w*[gt]$/],
]);

const AWK = /^[gmn]?awk$/;

/** Programs with arguments of their own kind, and whether these have code. */
const OWN_ARGUMENTS: readonly (readonly [RegExp, (args: readonly string[]) => boolean])[] = [
  [AWK, (args) => hasInputScript(args) || args.some(readsByAwk)],
  [/^curl$/, (args) => args.some((text) => CURL_READS.test(text))],
  [/^(?:just|rake|ninja)$/, hasInputScript],
  [/^sqlite3$/, (args) => !asksForVersion(args) && runsOtherThanQueries(args)],
];

/** Whether the arguments of a program have code, or the program reads it from its input. */
export function runsCode(program: string, args: readonly string[]): boolean {
  if (/^(?:source|\.)$/.test(program) || args.some(namesFilesByEscapes)) return true;
  const ownArguments = OWN_ARGUMENTS.find(([name]) => name.test(program));
  if (ownArguments) return ownArguments[1](args);
  if (asksForVersion(args)) return false;
  if (runsCommands(program)) return true;
  if (program === "uv" && args[0] === "run") return namesCodeModule(args) || args.includes("-");
  if (!isLanguage(program)) return false;
  // The tests of `node` are files that it finds.
  const mayReadCode = mayRunInput(program, args) && !args.includes("--test");
  return mayReadCode || namesCodeModule(args) || hasCodeArgument(program, args);
}

function asksForVersion(args: readonly string[]): boolean {
  return args.length === 1 && /^(?:-[vVh]|--?version|--help)$/.test(args[0] ?? "");
}

/** Whether the arguments of Python have a module that runs the code in the other ones. */
function namesCodeModule(args: readonly string[]): boolean {
  return args.some((text, index) =>
    /^-\w*m$/.test(args[index - 1] ?? "") && CODE_MODULE.test(text)
  );
}

function hasCodeArgument(program: string, args: readonly string[]): boolean {
  const own = OWN_CODE.get(program);
  const start = args.findIndex((text, index) =>
    text === "-m" && TESTERS.test(args[index + 1] ?? "")
  );
  return args.slice(0, start === -1 ? undefined : start).some((text) =>
    CODE.test(text) || own?.test(text)
  );
}

/** A script of awk that reads other files, or runs programs. */
const AWK_READS = /getline|system\s*\(|\bARGV\b|@(?:load|include|\w+\s*\()/;

function readsByAwk(script: string): boolean {
  if (AWK_READS.test(script)) return true;
  const code = replaceAwkTexts(script);
  const start = code.search(/\bprintf?\b/);
  // A pipe behind it may be that of a command in a variable.
  return /"\s*\|(?!\|)|(?<!\|)\|\s*"/.test(code) ||
    start !== -1 && /(?<!\|)\|(?!\|)/.test(code.slice(start));
}

/** Whether a script of awk in the arguments may run commands, or is in a file. */
export function runsAwkCommands(args: readonly string[]): boolean {
  return args.some((text) =>
    /^-\w*[fEilW]|^--(?:exec|file|include|load)/.test(text) || readsByAwk(text)
  );
}

/** Strings of awk, and patterns without quotes where no division can be. */
const AWK_TEXTS = /"(?:[^"\\\n]|\\[^\n])*"|(?<=(?:^|[~(,{;!&|])[^\S\n]*)\/[^"/\\[#\n]*\//g;

/** The rest of a comment, a division, another pattern or another string. */
const OTHER_AWK_TEXT = /[/#]|(?<!")(?:"")*"(?!")/;

/** Empties the texts of a script of awk. Behind another text, a quote may begin none, so that the script stays. */
function replaceAwkTexts(script: string): string {
  const code = script.replaceAll(AWK_TEXTS, '""');
  return OTHER_AWK_TEXT.test(code) ? script : code;
}

/** Arguments with which `curl` reads other ones from a file, or a file as a page; it expands braces also before the colon. */
const CURL_READS =
  /^-\w*K|^--(?:conf|exp|proto-d|var)|\b[fF][iI][lL][eE]:|^[A-Za-z]*[{[][\w,{}[\]-]*:\//;

/** Whether an argument is the address of a file with escapes or patterns, which a browser replaces. */
function namesFilesByEscapes(text: string): boolean {
  return /[%*[{]/.test(text) && /(?:^|=)file:/i.test(text);
}

/** Commands of SQLite that only show something about a database. */
const PLAIN_SQLITE =
  /^\.(?:databases|dbinfo|dump|exit|fullschema|headers?|help|indexes|indices|mode|nullvalue|quit|schema|separator|show|tables|timer|version|width)\b[^\n]*$/;

/** Functions, tables and commands of SQLite that read files. A path of a database may begin like a command. */
const READING_SQL =
  /\b(?:fsdir|load_extension|readfile|zipfile)\b|\bedit\b["\]`]?\s*(?:\(|\/\*|--)|\battach\b|^[^\S\n]*\.(?!\.?\/)/im;

/** Whether SQLite gets commands with which it reads other files, or reads its input. */
function runsOtherThanQueries(args: readonly string[]): boolean {
  // The value of an option such as `-cmd` is one of them, too.
  const texts = args.filter((text) => !text.startsWith("-"));
  const isPlain = (text: string) => PLAIN_SQLITE.test(text) || !READING_SQL.test(text);
  const readsCommands = (text: string, index: number) =>
    /^--?init/.test(text) && args[index + 1] !== "/dev/null";
  return texts.length < 2 || !texts.every(isPlain) || args.some(readsCommands);
}
