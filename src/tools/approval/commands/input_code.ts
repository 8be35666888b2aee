/**
 * The texts of a script that other programs run.
 *
 * @module
 */

import type { ShellRedirect, ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { checksFiles } from "./known_programs.ts";
import { type ExecutedCommands, getInputText, getProgram } from "./executed_commands.ts";
import { getFileName } from "./file_name.ts";
import { isHarmlessCommand } from "./harmless_commands.ts";
import { startsInput, startsVariable } from "./inline_code.ts";
import { isInterpreter } from "./interpreters.ts";
import { findLaunched, findLaunchedProgram } from "./launched_commands.ts";
import { INPUT_FILE, mayStartCode, startsCode } from "./runs_input.ts";
import { isContainerTool, mayRunText } from "./unknown_inputs.ts";

/** Whether a word with expansions may be a path of the input. */
function mayBeInputFile({ text, literal }: ShellWord): boolean {
  if (literal) return false;
  const path = text.replace(/^[^/=]*=/, "");
  const [first = ""] = path.replace(/^[./]+/, "").split("/", 1);
  return /^[$`]/.test(path) || path.startsWith("/") && /^(?:dev|proc)$|[*?[{$`]/.test(first);
}

/**
 * Returns the texts that a script passes to an interpreter, or to a program that is not known to take them as data: by its
 * input, by a pipe if it runs its input, or in a file that the script writes and names again.
 */
export function listInputCode(script: ExecutedCommands): readonly string[] {
  const known = knownCode.get(script) ?? findInputCode(script);
  knownCode.set(script, known);
  return known;
}

/** The results for scripts, which many rules need. */
const knownCode = new WeakMap<ExecutedCommands, readonly string[]>();

function findInputCode({ commands, launched, words }: ExecutedCommands): readonly string[] {
  const isInput = words.some(({ text }) => INPUT_FILE.test(text));
  const readers = [...commands, ...launched].filter(({ readsText }) => readsText);
  const started = readers.flatMap((
    command,
  ) => [command.words, ...findLaunched(command, mayStartCode)]);
  const runsPipe = started.some((words) => {
    const program = getProgram({ words });
    const args = words.slice(1);
    const mayNameInput = isInput || args.some(mayBeInputFile);
    return args.some(({ text }) => DEBUGGER_OPTION.test(text)) ||
      isInterpreter(program) && !isContainerTool(program) && mayNameInput ||
      startsCode(program, args.map(({ text }) => text)) ||
      startsInput(program, args.map(({ text }) => text));
  });
  const names = new Set(
    commands.filter((command) => !readsFilesOnly(command)).flatMap(({ words }) =>
      words.flatMap(listFileNames)
    ),
  );
  const paths = new Set(
    commands.flatMap(({ words: [program] }) =>
      program?.text.includes("/") ? getFileName(program.text) : []
    ),
  );
  const mayEndPath = (word: ShellWord) => {
    const end = findNameEnd(word);
    return end !== undefined && [...paths].some((name) => name.endsWith(end));
  };
  const isNamed = (word: ShellWord) =>
    listFileNames(word).some((name) => names.has(name)) || mayEndPath(word);
  const isOutput = ({ operator }: ShellRedirect) => /^[&]?>/.test(operator);
  // An argument of a function may be any of them.
  const isProgram = (word: ShellWord) =>
    listBaseNames(word).some((name) => paths.has(name) || paths.size > 0 && /^\$\d$/.test(name));
  // The text of a list, a function or a filter comes from other commands.
  const passesText = (command: SimpleCommand) =>
    WRITERS.test(getProgram(command)) && command.words.slice(1).some(isNamed) ||
    !/^(?:echo|printf)$/.test(getProgram(command)) && listInputTexts(command).length === 0 &&
      command.redirects.some((redirect) =>
        isOutput(redirect) && redirect.target && isProgram(redirect.target)
      );
  const isRun = (redirect: ShellRedirect) =>
    isOutput(redirect) && redirect.target !== undefined && isNamed(redirect.target);
  const runsTexts = runsPipe || readers.some(mayRunText) || commands.some(passesText);
  // The value of a variable is that of other words.
  const hasValue = commands.some(runsValue) || runsTexts &&
      commands.some((command) => listTexts(command).some((text) => text.includes("$")));
  const values = hasValue ? [words.map(({ text }) => text).join(" ")] : [];
  const texts = commands.flatMap((command) => {
    const isCode = runsTexts || command.redirects.some(isRun);
    if (isCode) return listTexts(command);
    return command.words.slice(1).some(isProgram) ? listInputTexts(command) : [];
  });
  return [...texts, ...values];
}

/** Whether the code in an argument of an interpreter is, or may run, the value of a variable. */
function runsValue({ words }: SimpleCommand): boolean {
  if (startsVariable(getProgram({ words }), words.slice(1))) return true;
  return isInterpreter(getProgram({ words })) &&
    words.some(({ text }, index) =>
      /^\$(?:\w+|\{\w+\})$/.test(text) && CODE_OPTION.test(words[index - 1]?.text ?? "")
    );
}

const CODE_OPTION = /^-\w*[ceEpr]$|^--(?:command|eval|exec|execute|print)$/;

/** Options with which a runner of tests reads commands of a debugger. */
const DEBUGGER_OPTION = /^--(?:pdb|trace)$/;

/** Finds the text behind the expansions in the name of a file; `undefined` if it has none. */
function findNameEnd({ text, literal }: ShellWord): string | undefined {
  const [, end] = /(?:\$\w+\b|[*?`)}\]])([^$*?`(){}[\]]*)$/.exec(getFileName(text)) ?? [];
  return literal ? undefined : end;
}

/** Returns the names that the file of a word may have, also as it is written. */
function listBaseNames({ text, written = text }: ShellWord): readonly string[] {
  return [getFileName(text), getFileName(written)];
}

/** Returns the names of the files in a word, which may be an option with its value, such as `-fa.mk` and `of=a`. */
function listFileNames(word: ShellWord): readonly string[] {
  return listBaseNames(word).flatMap((name) => {
    const [, attached] = /^-(?:[A-Za-z]*f|\w)(.+)$/s.exec(word.text) ?? [];
    const values = [...word.text.split("=").slice(1), ...attached === undefined ? [] : [attached]];
    return [name, ...values.map(getFileName)];
  });
}

/** Programs that write their input to a file which they name. */
const WRITERS = /^(?:dd|iconv|pv|shuf|sort|sponge|tee|uniq)$/;

/** Whether a command runs none of the files that it names: it shows them, or adds them to a commit. */
function readsFilesOnly(command: SimpleCommand): boolean {
  const [, subcommand] = command.words;
  const program = getProgram(command);
  const [name, ...args] = findLaunchedProgram(command)?.words ?? command.words;
  return isHarmlessCommand(command) || program === "chmod" ||
    checksFiles(name?.text ?? "", args.map(({ text }) => text)) || WRITERS.test(program) ||
    program === "git" && /^(?:add|commit|diff|status)$/.test(subcommand?.text ?? "");
}

/** Programs that print the texts in their arguments. */
const PRINTERS = /^(?:date|echo|[gm]?awk|g?sed|jq|printf|seq|yes)$/;

/** Returns the texts that a command gets in its input, or prints. */
function listTexts(command: SimpleCommand): readonly string[] {
  const text = command.words.slice(1).map((word) => word.text).join(" ");
  const printed = PRINTERS.test(getProgram(command)) ? [text, replaceEscapes(text)] : [];
  return [...printed.filter((text) => text !== ""), ...listInputTexts(command)];
}

function listInputTexts({ redirects }: SimpleCommand): readonly string[] {
  return redirects.map(getInputText).filter((text) => text !== "");
}

/** Replaces the escapes that `printf` and `echo -e` do. */
function replaceEscapes(text: string): string {
  return text.replace(/\\[abefnrtv]/g, " ")
    .replace(/\\x([\da-f]{1,2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/\\(0?[0-7]{1,3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8)));
}
