/**
 * Finds the simple commands of a shell script, on the syntax tree of `unbash`. Whatever is ambiguous makes the result
 * `opaque`.
 *
 * @module
 */

import {
  type Assignment,
  type Command,
  type DoubleQuotedChild,
  type ParameterExpansionPart,
  parse,
  type Redirection,
  type Script,
  type SyntaxNode,
  type Word,
  type WordPart,
} from "unbash";
import type { ShellRedirect, ShellWord, SimpleCommand } from "../../kit/simple_command.ts";
import { callsMakeFunction, hasPlainValue } from "./assigned_values.ts";
import { findConstants, foldCommand } from "./constant_variables.ts";
import {
  decidesEffects,
  EVALUATED_VARIABLES,
  isExpression,
  isPlainValue,
} from "./evaluated_variables.ts";
import { listListVariables, mayEvaluateList } from "./list_variables.ts";
import {
  createOtherVariables,
  isCount,
  isCountWord,
  isNumber,
  listNumericVariables,
  namesNumber,
  type OtherVariables,
} from "./numeric_variables.ts";
import { countCalls, PLAIN_NODES, REPEATED_NODES, walkTree } from "./shell_tree.ts";
import { findTextReaders, listFunctions } from "./text_readers.ts";

/** The commands of a script, including those in substitutions, subshells and functions, as a flat list. */
export interface ParsedScript {
  /** The commands in source order. Redirections of a compound command are a command without words. */
  readonly commands: readonly SimpleCommand[];
  /** All words, including those inside expansions. */
  readonly words: readonly ShellWord[];
  /** Whether the script may run commands that are not in the list. */
  readonly opaque: boolean;
  /** Whether the script was not analyzed: it is too long or too deeply nested. */
  readonly incomplete: boolean;
  /** Whether the script consists of simple commands in lists, pipes, groups, conditions and loops over conditions. */
  readonly plain: boolean;
  /** Whether a loop or a function may run its commands more than once. */
  readonly repeats: boolean;
  /** Whether a function starts itself more than once. */
  readonly multiplies: boolean;
  /** Whether other shells, such as `dash`, may find other commands in the script. */
  readonly bashOnly: boolean;
}

/** Maximum length of a script in characters. The parser reads a script of this length within 200 ms. */
const MAX_LENGTH = 64 * 1024;

/** Maximum nesting of brackets. The time of the parser grows with the product of nesting and length. */
const MAX_NESTING = 16;

const OPAQUE_SCRIPT: ParsedScript = {
  commands: [],
  words: [],
  opaque: true,
  incomplete: true,
  plain: false,
  repeats: true,
  multiplies: false,
  bashOnly: true,
};

/** Options for {@linkcode parseShell}. */
interface ParseOptions {
  /** Variables of the scripts around it that may be no numbers; those of this script are added. Default: none. */
  readonly others?: OtherVariables;
  /** Whether no script around it can change its variables. Default: `false`. */
  readonly isOutermost?: boolean;
}

/** Parses a script. */
export function parseShell(
  source: string,
  { others = createOtherVariables(), isOutermost = false }: ParseOptions = {},
): ParsedScript {
  if (source.length > MAX_LENGTH || source.includes("\0") || isDeeplyNested(source)) {
    return OPAQUE_SCRIPT;
  }
  try {
    const reader = new ScriptReader(source);
    reader.read(parse(source), { others, isOutermost });
    return reader;
  } catch {
    return OPAQUE_SCRIPT;
  }
}

/** Whether brackets are nested too deeply. Quotes are not considered, which can only overestimate the nesting. */
function isDeeplyNested(source: string): boolean {
  let depth = 0;
  for (const [bracket] of source.matchAll(/[(){}]/g)) {
    if (bracket === "(" || bracket === "{") depth++;
    else if (depth > 0) depth--;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}

class ScriptReader implements ParsedScript {
  readonly commands: SimpleCommand[] = [];
  readonly words: ShellWord[] = [];
  opaque = false;
  readonly incomplete = false;
  plain = true;
  repeats = false;
  multiplies = false;
  bashOnly = false;
  readonly #source: string;
  /** Words that are compared with the value of a variable, and lists of directories of programs. */
  readonly #noWords = new Set<SyntaxNode>();
  /** The values of the constants that are assigned so far. */
  readonly #values = new Map<string, string>();
  #readers: ReadonlySet<SyntaxNode> = new Set();
  #functions: ReadonlySet<string> = new Set();

  constructor(source: string) {
    this.#source = source;
  }

  read(root: Script, { others, isOutermost }: Required<ParseOptions>): void {
    const nodes = [...walkTree(root)];
    const constants = isOutermost ? findConstants(root, nodes, isLiteral) : undefined;
    const numbers = listNumericVariables(nodes, others);
    const lists = listListVariables(nodes);
    this.#functions = listFunctions(root);
    this.#readers = findTextReaders(root, this.#functions);
    for (const node of nodes) {
      this.#readNode(node, numbers);
      if (node.type === "Command" && mayEvaluateList(node, lists)) this.opaque = true;
      const assigned = node.type === "Command" ? constants?.get(node) ?? [] : [];
      for (const { name, value } of assigned) this.#values.set(name, value);
    }
  }

  #addCommand(node: Command): void {
    const command = foldCommand(toSimpleCommand(node), node, this.#values);
    this.commands.push({
      ...command,
      ...(this.#readers.has(node) && { readsText: true }),
      ...(node.name && this.#functions.has(node.name.value) && { isFunction: true }),
    });
    const targets = command.redirects.flatMap(({ target }) => target ?? []);
    for (const word of [...command.words, ...targets]) {
      if (word.written !== undefined) this.words.push(word);
    }
  }

  #readNode(node: SyntaxNode, numbers: ReadonlySet<string>): void {
    if (!PLAIN_NODES.has(node.type)) this.plain = false;
    if (REPEATED_NODES.has(node.type)) this.repeats = true;
    if (isUnclear(node, numbers)) this.opaque = true;
    if (isBashOnly(node, this.#source)) this.bashOnly = true;
    switch (node.type) {
      case "Command":
        this.#addCommand(node);
        break;
      case "Redirected":
        this.commands.push({ assignments: [], words: [], redirects: toRedirects(node.redirects) });
        break;
      case "ParameterExpansion":
        if (node.operation?.type === "Remove") this.#noWords.add(node.operation.operand);
        break;
      case "Assignment":
        if (node.name === "PATH" && hasPlainValue(node, isLiteral)) this.#noWords.add(node.value);
        break;
      case "Word":
        if (!this.#noWords.has(node)) this.words.push(toShellWord(node));
        break;
      case "Function":
        this.multiplies ||= countCalls(node.body, node.name.value) > 1;
        break;
    }
  }
}

/** Whether commands may be hidden in a node. */
function isUnclear(node: SyntaxNode, numbers: ReadonlySet<string>): boolean {
  switch (node.type) {
    case "Script":
      return "errors" in node && node.errors !== undefined && node.errors.length > 0;
    case "Word":
      return hasOperator(node);
    // Without bash, or in its mode for POSIX, `time -f format program` runs a program.
    case "Command":
      return node.name?.value.startsWith("-") === true || mayReplaceProgram(node) ||
        mayEvaluate(node);
    case "CommandExpansion":
    case "ProcessSubstitution":
      return node.script === undefined;
    // The output is a part of the expression. Without numbers, a function may have the name of a program that prints one.
    case "ArithmeticCommandExpansion":
      return node.script === undefined || numbers.size === 0 || !isCount(node.script);
    case "ArithmeticExpansion":
    case "ArithmeticCommand":
      return node.expression === undefined;
    // The value of a variable in an expression is evaluated, with the substitutions in it.
    case "ArithmeticWord":
      return !namesNumber(node.value, numbers);
    case "ParameterExpansion":
      return isUnclearExpansion(node, numbers);
    case "TestUnary":
      return node.operator === "-R" || node.operator === "-v" && !/^\w+$/.test(node.operand.text);
    case "TestBinary":
      return /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) &&
        ![node.left, node.right].every((word) =>
          namesNumber(word.text, numbers) || numbers.size > 0 && isCountWord(word)
        );
    // A document without an end reaches to the end of the script, or of the substitution it is in.
    case "HereDoc":
      return node.closing === undefined;
    case "Assignment":
      return node.index !== undefined ||
        isExpression(node.name) && !isNumber(node) ||
        node.value.type !== "ArrayValue" && callsMakeFunction(node.value) ||
        EVALUATED_VARIABLES.test(node.name) && !hasPlainValue(node, isLiteral, numbers);
    case "ArrayValue":
      return node.elements.some(({ text }) => {
        const [, index] = /^\[(.*)\]\+?=/s.exec(text) ?? [];
        return index !== undefined && !namesNumber(index, numbers);
      });
    // They are a syntax error unless the shell enables them.
    case "ExtendedGlob":
    case "FileDescriptorVariable":
      return true;
    case "For":
    case "Select":
      return decidesEffects(node.name.text);
    default:
      return false;
  }
}

/**
 * Whether shells without a construct find commands in it: `a &>b c` is `a &` and `>b c`, `[[ a || b ]]` and `((a))` run
 * programs, and `$'\''` begins a quote. `a &>b` runs the same program there, and `[[ a ]]` none.
 */
function isBashOnly(node: SyntaxNode, source: string): boolean {
  switch (node.type) {
    case "AnsiCQuoted":
      return node.text.includes("\\'");
    case "TestCommand":
      return !/^\[\[[^|&;()<>`\n]*\]\]$/.test(source.slice(node.pos, node.end));
    case "ArithmeticCommand":
      return true;
    case "Command":
      return node.redirects.some(({ operator, end }) =>
        /^&>>?$/.test(operator) && [node.name, ...node.args].some((word) => word && word.pos >= end)
      );
    case "HereDocDelimiter":
      return node.text.includes("$");
    default:
      return false;
  }
}

/**
 * Whether an expansion may evaluate a text: `${!name}` and `${name@P}` evaluate the value of the variable, an index or an
 * offset is an expression. `${!name[@]}` lists indices.
 */
function isUnclearExpansion(
  { prefix, text, parameter, index, operation }: ParameterExpansionPart,
  numbers: ReadonlySet<string>,
): boolean {
  const isList = index !== undefined && /^[@*]$/.test(index.text);
  return prefix === "!" && !(isList && operation === undefined) ||
    text.includes("=") && decidesEffects(parameter) ||
    index !== undefined && !isList && !namesNumber(index.text, numbers) ||
    operation?.type === "Transform" || operation?.type === "Unknown" ||
    operation?.type === "Slice" &&
      ![operation.offset, operation.length].every((word) =>
        word === undefined || word.text.trim() === "" || namesNumber(word.text, numbers)
      );
}

/** Whether a command sets such a variable from its input, or in a quoted word such as `export "PATH=."`. */
function mayReplaceProgram({ name, args }: Command): boolean {
  const words = [...(name ? [name] : []), ...args.filter((arg) => arg.type === "Word")];
  const programs = /^(?:command|builtin)$/.test(words[0]?.value ?? "") ? words : words.slice(0, 1);
  if (programs.some(({ value }) => /^(?:read|mapfile|readarray|getopts)$/.test(value))) {
    return words.some(({ value }) => decidesEffects(value.replace(/^-\w/, "")));
  }
  if (!programs.some(({ value }) => /^(?:declare|typeset|local|export|readonly)$/.test(value))) {
    return false;
  }
  return words.some((word) => {
    const [, name = "", value = ""] = /^(\w+)\+?=(.*)$/s.exec(word.value) ?? [];
    return isExpression(name) && !/^\d+$/.test(value) || callsMakeFunction(word) ||
      EVALUATED_VARIABLES.test(name) && !isPlainValue(name, value, isLiteral(word));
  });
}

/**
 * Whether a command of bash may take an expansion for the name of a variable, whose index it evaluates, for an assignment
 * such as `PS4=…`, or for an option with a name.
 */
function mayEvaluate({ name, args }: Command): boolean {
  const words = [...(name ? [name] : []), ...args.filter((arg) => arg.type === "Word")];
  const start = words.findIndex(({ value }) => !/^(?:command|builtin|-\w+|--)$/.test(value));
  const [program, ...rest] = words.slice(start);
  const isExpansion = (word: Word | undefined) => word !== undefined && !isLiteral(word);
  const isOption = (word: Word | undefined) =>
    isExpansion(word) && /^[-$`{*?[]/.test(word?.value ?? "");
  // In `name=value`, only the name counts.
  const isName = (word: Word) =>
    isExpansion(word) && !(isQuoted(word) && /^\w+\+?=/.test(word.value));
  // Other letters may have a value in the same word, and `-t` of `mapfile` has none.
  const valued = program?.value === "read" ? /^-[ers]*[dinpNtu]$/ : /^-t*[dnOsu]$/;
  const isValued = (index: number) => valued.test(rest[index]?.value ?? "");
  switch (program?.value) {
    case "read":
    case "mapfile":
    case "readarray":
      return rest.some((word, index) =>
        isExpansion(word) && !(isQuoted(word) && isValued(index - 1) && !isValued(index - 2))
      );
    case "getopts":
    case "unset":
    case "declare":
    case "typeset":
    case "local":
    case "export":
    case "readonly":
      return rest.some(isName);
    // Without a name and a format it only fails.
    case "printf":
      return rest[0] !== undefined && isOption(rest[0]) && !endsAsFormat(rest[0]) &&
        (rest.length > 1 || !isQuoted(rest[0]));
    case "test":
    case "[":
      return rest.some((word, index) =>
        isOption(word) && isTestEnd(rest[index - 1]) &&
        (mayHaveIndex(rest[index + 1]) || word.value.startsWith("{"))
      );
    default:
      return false;
  }
}

/** Whether a word in quotes ends with a text that ends no name of a variable, such as `"${RED}Failed: %s"`. */
function endsAsFormat(word: Word): boolean {
  const [part] = word.parts ?? [];
  const end = part?.type === "DoubleQuoted" ? part.parts.at(-1) : undefined;
  return isQuoted(word) && word.parts?.length === 1 && end?.type === "Literal" &&
    /[^\w\]]/.test(end.value) && !end.value.endsWith("]");
}

/** Whether a test of `[` may begin behind a word: it is none, or may join tests. */
function isTestEnd(word: Word | undefined): boolean {
  return word === undefined || !isLiteral(word) || /^(?:[!(]|-[ao])$/.test(word.value);
}

/** Whether a word may be the name of a variable with an index. */
function mayHaveIndex(word: Word | undefined): boolean {
  return word !== undefined && (!isLiteral(word) || word.value.includes("["));
}

/** Whether an unquoted part has an operator, as in `0<(command)`, which bash takes for a substitution. */
function hasOperator(word: Word): boolean {
  return getUnquotedTexts(word).some((text) => /[()<>|&;]/.test(text));
}

function getUnquotedTexts({ parts, text }: Word): string[] {
  if (!parts) return [removeEscapes(text)];
  return parts.flatMap((part) => (part.type === "Literal" ? [removeEscapes(part.text)] : []));
}

function removeEscapes(text: string): string {
  return text.replace(/\\[\s\S]/g, "");
}

function toSimpleCommand({ name, prefix, args, redirects }: Command): SimpleCommand {
  const words = [...(name ? [name] : []), ...args].map(toShellWord);
  const assignments = prefix.flatMap((node) => node.type === "Assignment" ? [node.name] : []);
  return { assignments, words, redirects: toRedirects(redirects) };
}

function toRedirects(redirects: readonly Redirection[]): ShellRedirect[] {
  return redirects.map((redirect) => ({
    operator: redirect.operator,
    target: redirect.type !== "HereDoc" && redirect.target
      ? toShellWord(redirect.target)
      : undefined,
    ...(redirect.type === "HereDoc" && { document: redirect.body.text }),
  }));
}

function toShellWord(word: Word | Assignment): ShellWord {
  if (word.type === "Assignment") return toAssignmentWord(word);
  return { text: getValue(word), ...describeValue(word) };
}

/** An argument such as `name=value`, which only `export` and similar commands treat as an assignment. */
function toAssignmentWord({ name, value, text }: Assignment): ShellWord {
  if (value.type === "ArrayValue" || !text.startsWith(`${name}=`)) return { text, literal: false };
  return { text: `${name}=${getValue(value)}`, ...describeValue(value) };
}

/** Returns the text of a word without quotes, which the parser keeps in braces. */
function getValue({ value, parts = [] }: Word): string {
  const hasBraces = parts.some(({ type }) => type === "BraceExpansion");
  return hasBraces ? parts.map((part) => getPartValue(part, false)).join("") : value;
}

/** In braces, quoted characters that would divide them stay escaped. */
function getPartValue(part: WordPart | DoubleQuotedChild, isInBraces: boolean): string {
  const escape = (text: string) => isInBraces ? text.replace(/[{},]/g, "\\$&") : text;
  switch (part.type) {
    case "DoubleQuoted":
    case "LocaleString":
      return part.parts.map((child) =>
        child.type === "Literal" ? escape(child.value) : getPartValue(child, isInBraces)
      ).join("");
    case "SingleQuoted":
    case "AnsiCQuoted":
      return escape(part.value);
    case "BraceExpansion":
      if (!part.parts) break;
      return `{${part.parts.map((inner) => getPartValue(inner, true)).join("")}}`;
  }
  if (isInBraces) return part.text.replace(/\\([^{},\\])/g, "$1");
  return part.type === "Literal" ? part.value : part.text;
}

function describeValue(word: Word): Omit<ShellWord, "text"> {
  const literal = isLiteral(word);
  return { literal, ...(!literal && isQuoted(word) && { quoted: true }) };
}

/** Whether all expansions are in double quotes, and none is a list. */
function isQuoted(word: Word): boolean {
  const parts = word.parts ?? [];
  return !getUnquotedTexts(word).some(hasExpansion) && !/(?:^|[=:])~/.test(word.text) &&
    parts.every((part) =>
      part.type === "DoubleQuoted" ? !part.parts.some(isList) : isLiteralPart(part)
    );
}

/** Whether an expansion in double quotes may be several words, such as `$@`. */
function isList({ type, text }: DoubleQuotedChild): boolean {
  return /^(?:Simple|Parameter)Expansion$/.test(type) && /[@*]/.test(text);
}

function isLiteral(word: Word): boolean {
  return (word.parts ?? []).every(isLiteralPart) && !getUnquotedTexts(word).some(hasExpansion) &&
    !/(?:^|[=:])~/.test(word.text);
}

function isLiteralPart(part: WordPart): boolean {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
      return true;
    case "DoubleQuoted":
      return part.parts.every(({ type }) => type === "Literal");
    default:
      return false;
  }
}

function hasExpansion(text: string): boolean {
  return /[$`*?]/.test(text) || text.includes("[") && text.includes("]") ||
    text.includes("{") && /,|\.\./.test(text);
}
