/**
 * The variables of a script whose values are numbers.
 *
 * @module
 */

import type { Assignment, Command, Redirection, Script, SyntaxNode, Word } from "unbash";
import { DECLARERS } from "./list_variables.ts";

/** Numbers that bash provides. */
const OWN_NUMBERS = ["RANDOM", "SECONDS", "LINENO"];

/** An expansion to a number that bash provides: an exit code, a number of arguments or a length. */
const NUMBER_EXPANSION = /^\s*"?\$(?:[?#$!]|\{[?#]\}|\{#\w+(?:\[[@*]\])?\})"?\s*$/;

/** The name of a variable, not that of an argument such as `$1`, or of one that bash sets, such as BASH_COMMAND. */
const NAME = /^(?!BASH)[A-Za-z_]\w*$/;

/** Variables that bash sets to a text, such as the last argument of a command or a line of input. */
const OWN_TEXTS = ["_", "REPLY", "MAPFILE", "OPTARG", "PWD", "OLDPWD", "DIRSTACK", "FUNCNAME"];

/** Commands that set variables which they name. */
const SETTERS = /^(?:read|mapfile|readarray|getopts)$/;

/** The definition of a function in code, which may have the name of a counter. */
const DEFINES_FUNCTION = /\(\s*\)|\bfunction\b/;

/** Commands that only print their arguments. */
const PRINTERS = /^(?:echo|printf)$/;

/** Commands that run their arguments in the same shell. */
const EVALUATORS = /^(?:eval|trap)$/;

/** Shells, whose arguments are scripts. */
const SHELLS = /^(?:ba|da|k)?sh$/;

/** The same commands in code. */
const SETS_VARIABLES =
  /\b(?:read|mapfile|readarray|getopts|declare|typeset|local|export|readonly|eval)\b/;

/** Programs that print only numbers. */
const COUNTERS = /^(?:seq|wc|date|nproc|grep|stat|command_not_found_handle)$/;

/** The indices of a list that is none of bash itself. */
const LIST_INDICES = /^"\$\{!(?!BASH)\w+\[[@*]\]\}"$/;

/** The words and redirections of such a program with which it prints one number. */
const COUNT =
  /^(?:wc -[lwcm](?: <[\w./"${}-]+)?|date \+%s(?:%N)?|nproc|grep -[EFPivwx]*c[EFPivwx]* (?:'[^']*'|"[^"$`\\]*"|\w[\w.-]*)(?: [\w./][\w./-]*)?|stat -c ?["']?%[sXYZ]["']? (?:"\$\{?\w+\}?"|[\w./][\w./-]*))$/;

/** Whether the script of a substitution prints only a number, such as `ls | wc -l`: its last or only command is a counter. */
export function isCount(script: Script | undefined): boolean {
  const [statement, ...others] = script?.commands ?? [];
  if (!statement || others.length > 0 || statement.background === true) return false;
  const { command } = statement;
  if (command.type === "Command") return COUNT.test(describeCommand(command));
  if (command.type !== "Pipeline") return false;
  const last = command.commands.at(-1);
  return command.operators.every((operator) => operator === "|") &&
    command.commands.every(({ type }) => type === "Command") &&
    last?.type === "Command" && COUNT.test(describeCommand(last));
}

/** Returns the words and redirections of a command, each as written. */
function describeCommand({ prefix, name, suffix }: Command): string {
  return [...prefix, ...(name ? [name] : []), ...suffix].map(describePart).join(" ");
}

function describePart(part: Redirection | Word | Assignment): string {
  if (part.type === "Word" || part.type === "Assignment") return part.text;
  return part.operator + (part.type === "Redirect" ? part.target?.text ?? "" : "");
}

/** Whether a word is only a substitution that prints a number. */
export function isCountWord({ parts = [] }: Word): boolean {
  const [part, ...others] = parts;
  const [inner, ...rest] = part?.type === "DoubleQuoted" ? part.parts : [part];
  return others.length === 0 && rest.length === 0 && inner?.type === "CommandExpansion" &&
    isCount(inner.script);
}

/** Whether a part of an expression is a number, such as `5`, `$?` and `${#LIST[@]}`. */
function isPlainNumber(expression: string): boolean {
  return /^\s*"?(?:-?\d+|0[xX][\da-fA-F]+)"?\s*$/.test(expression) ||
    NUMBER_EXPANSION.test(expression);
}

/** Whether an expression is a number, or a variable whose value is one. */
export function namesNumber(expression: string, numbers: ReadonlySet<string>): boolean {
  const [, name] = /^\s*["']?\$?\{?(\w+)\}?["']?\s*$/.exec(expression) ?? [];
  return isPlainNumber(expression) || name !== undefined && numbers.has(name);
}

/** Variables whose values may be no numbers. */
export interface OtherVariables {
  /** Their names. */
  readonly names: Set<string>;
  /** Whether it may be any. */
  isAny: boolean;
}

/** Returns those that a script begins with. */
export function createOtherVariables(): OtherVariables {
  return { names: new Set(OWN_TEXTS), isAny: false };
}

/**
 * Returns the variables to which a script assigns only numbers. The value of another one may be an expression that runs
 * programs where a number is expected, as `a[$(program)]` does.
 *
 * @param others Those of the scripts around it, from which it may have values; those of this script are added.
 */
export function listNumericVariables(
  nodes: readonly SyntaxNode[],
  others: OtherVariables,
): ReadonlySet<string> {
  const numeric = new Set(OWN_NUMBERS);
  const { names } = others;
  const copies = new Map<string, string>();
  const hasOnlyLists = !nodes.some(mayDeclareMap);
  for (const node of nodes) {
    if (node.type === "Assignment") {
      const source = findOwnNumber(node);
      if (source !== undefined) copies.set(node.name, source);
      (source !== undefined || isNumber(node) ? numeric : names).add(node.name);
    }
    // The value of an expression is a number.
    if (node.type === "ArithmeticBinary" && node.operator === "=") {
      const { left } = node;
      if (left.type === "ArithmeticWord" && NAME.test(left.value)) numeric.add(left.value);
    }
    if (node.type === "For") {
      const isNumeric = node.wordlist?.every((word) =>
        isNumberList(word) || hasOnlyLists && LIST_INDICES.test(word.text)
      );
      (isNumeric ? numeric : names).add(node.name.text);
    }
    if (node.type === "Select") names.add(node.name.text);
    // As in `${name:=value}`.
    if (node.type === "ParameterExpansion" && node.text.includes("=")) names.add(node.parameter);
    if (node.type === "Function" && COUNTERS.test(node.name.value)) others.isAny = true;
    if (node.type === "Command") addSetVariables(node, others);
  }
  for (const [name, source] of copies) if (names.has(source)) names.add(name);
  return others.isAny ? new Set() : new Set([...numeric].filter((name) => !names.has(name)));
}

/** Whether a command may declare a list whose indices are texts, with the option `-A`. */
function mayDeclareMap(node: SyntaxNode): boolean {
  return node.type === "Command" &&
    [...(node.name ? [node.name] : []), ...node.args].some((arg) => /-\w*A/.test(getValue(arg)));
}

function addSetVariables({ name, args }: Command, others: OtherVariables): void {
  const words = [name?.value ?? "", ...args.map(getValue)];
  const programs = /^(?:command|builtin)$/.test(words[0] ?? "") ? words : words.slice(0, 1);
  const runs = (pattern: RegExp) => programs.some((word) => pattern.test(word));
  const isSetter = runs(SETTERS);
  const isDeclarer = runs(DECLARERS);
  const isEvaluator = runs(EVALUATORS);
  for (const arg of args) {
    const text = getValue(arg);
    // Also `env name=value program`.
    const [, assigned] = /^(\w+)\+?=/.exec(text) ?? [];
    const isWord = arg.type === "Word" && !SHELLS.test(words[0] ?? "") &&
      !PRINTERS.test(words[0] ?? "");
    if (isWord && assigned !== undefined) others.names.add(assigned);
    if (isSetter || isEvaluator) addNames(text, others.names);
    const isUnknown = /[$`]/.test(text) && !(arg.type === "Assignment" || assigned !== undefined);
    if ((isSetter || isDeclarer) && isUnknown) others.isAny = true;
    if (isEvaluator && /[$`]/.test(text) && SETS_VARIABLES.test(text)) others.isAny = true;
    if (isEvaluator && DEFINES_FUNCTION.test(text)) others.isAny = true;
  }
}

function getValue(arg: Word | Assignment): string {
  return arg.type === "Word" ? arg.value : arg.text;
}

/** Returns the variable of bash with a number that an assignment copies, as in `START=$SECONDS`. */
function findOwnNumber({ value }: Assignment): string | undefined {
  const [, name] = /^"?\$\{?(\w+)\}?"?$/.exec(value.type === "Word" ? value.text : "") ?? [];
  return OWN_NUMBERS.find((number) => number === name);
}

/** Whether an assignment has a number as its value. */
export function isNumber({ name, value, text, index }: Assignment): boolean {
  if (value.type === "ArrayValue" || index !== undefined) return false;
  if (!text.startsWith(`${name}=`) && !text.startsWith(`${name}+=`)) return false;
  const [part, ...others] = value.parts ?? [];
  return /^\d{1,18}$/.test(value.value) || isCountWord(value) ||
    NUMBER_EXPANSION.test(value.text) ||
    part?.type === "ArithmeticExpansion" && others.length === 0;
}

function isNumberList({ text }: Word): boolean {
  return /^(?:\d{1,18}|\{\d+\.\.\d+\}|\$\(seq(?: \d+)+\))$/.test(text);
}

function addNames(text: string, names: Set<string>): void {
  for (const [name] of text.matchAll(/\w+/g)) names.add(name);
}
