/**
 * Rules for shell commands: whether a pattern such as `git log *` covers all of a command, or may concern a part of it.
 *
 * @module
 */

import { type ExecutedCommands, getProgram } from "./executed_commands.ts";
import { hasHarmlessForms, isHarmlessCommand, isHarmlessRedirect } from "./harmless_commands.ts";
import type { ShellWord, SimpleCommand } from "./shell_syntax.ts";

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

/**
 * Whether a pattern covers a script: its meaning is fixed, one of its commands matches, and each of the others matches
 * or is harmless.
 */
export function coversScript(script: ExecutedCommands, pattern: CommandPattern): boolean {
  const { commands, opaque, plain } = script;
  if (opaque || !plain) return false;
  if (changesDirectory(commands) && /^[^/]+\//.test(pattern.words[0] ?? "")) return false;
  const covers = createCoverage(pattern);
  return commands.some(covers) &&
    commands.every((command) => covers(command) || isHarmlessCommand(command));
}

/** Whether a relative path of a program may mean another program. */
function changesDirectory(commands: readonly SimpleCommand[]): boolean {
  return commands.some((command) => getProgram(command) === "cd");
}

function createCoverage(pattern: CommandPattern): (command: SimpleCommand) => boolean {
  const { words, isPrefix } = pattern;
  const expressions = words.map((word) => toExpression(word));
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
  if (isExact || !hasHarmlessForms(command.words)) return true;
  const isGranted = (index: number) => /^-[^*]*$/.test(words[index] ?? "");
  return isHarmlessCommand({
    ...command,
    words: command.words.filter((_, index) => !isGranted(index)),
  });
}

/** Whether a pattern concerns a part of a script, for sure or possibly. */
export type Concern = "none" | "possible" | "certain";

/** Decides whether a pattern may concern any of the commands that a script runs. */
export function findConcern(script: ExecutedCommands, pattern: CommandPattern): Concern {
  const concerns = script.commands.map(createConcern(pattern));
  if (concerns.includes("certain")) return "certain";
  return script.opaque || concerns.includes("possible") ? "possible" : "none";
}

function createConcern({ words, isPrefix }: CommandPattern): (command: SimpleCommand) => Concern {
  const [name = "", ...args] = words;
  const program = toExpression(getBaseName(name), "i");
  const expressions = args.map((arg) => ({ arg, expression: toExpression(arg) }));
  const isOption = ({ arg }: { readonly arg: string }) => arg.startsWith("-");
  const options = expressions.filter(isOption);
  const operands = expressions.filter((part) => !isOption(part)).map(({ expression }) =>
    expression
  );
  return (command) => {
    const [first, ...rest] = command.words;
    if (!first) return "none";
    if (!first.literal) return "possible";
    const base = getProgram(command);
    if (INTERPRETERS.test(base) && rest.some(({ text }) => namesAll(text, [name, ...args]))) {
      return "possible";
    }
    if (!program.test(base)) return "none";
    const hasOptions = options.every(({ arg, expression }) =>
      rest.some((word) => !word.literal || expression.test(word.text) || includesOption(word, arg))
    );
    if (!hasOptions || !matchesOperands(rest, { expressions: operands, isPrefix })) return "none";
    return command.words.every(({ literal }) => literal) ? "certain" : "possible";
  };
}

/** Programs whose arguments may be code that starts other programs. */
const INTERPRETERS =
  /^(?:[gmn]?awk|perl|python[\d.]*|ruby|node|deno|bun|php|lua|osascript|npm|npx|bunx|tclsh|n?vim?|ex|gdb)$/;

/** Whether code contains the words of a pattern, except its options. */
function namesAll(code: string, words: readonly string[]): boolean {
  return /[^\w@./:=+-]/.test(code) && words.every((word) => {
    const name = escapeForRegExp(getBaseName(word)).replaceAll("\\*", "\\S*");
    return word.startsWith("-") || new RegExp(`(?<![\\w-])${name}(?![\\w-])`, "i").test(code);
  });
}

/**
 * Whether operands match in order. The program may have options before and between them, each with a value in the next
 * word.
 */
function matchesOperands(
  words: readonly ShellWord[],
  { expressions, isPrefix }: {
    readonly expressions: readonly RegExp[];
    readonly isPrefix: boolean;
  },
): boolean {
  let matched = 0;
  let isValue = false;
  for (const word of words) {
    const expression = expressions[matched];
    if (!expression && isPrefix) return true;
    // An expansion can become any number of words.
    if (!word.literal) return true;
    if (expression?.test(word.text)) {
      matched++;
      isValue = false;
    } else if (word.text.startsWith("-")) isValue = !word.text.includes("=");
    else if (isValue) isValue = false;
    else return false;
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

function getBaseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function matchesWord(expression: RegExp, word: ShellWord | undefined): boolean {
  return word !== undefined && expression.test(word.text);
}

function toExpression(pattern: string, flags = ""): RegExp {
  return new RegExp(`^${escapeForRegExp(pattern).replaceAll("\\*", ".*")}$`, `s${flags}`);
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|]/g, "\\$&");
}
