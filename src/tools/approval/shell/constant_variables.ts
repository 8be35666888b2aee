/**
 * The variables of a script that have one known value, such as `BIN` in `BIN=./a; $BIN --help`.
 *
 * @module
 */

import type {
  Assignment,
  Command,
  DoubleQuotedChild,
  Script,
  Statement,
  SyntaxNode,
  Word,
  WordPart,
} from "unbash";
import type { ShellWord, SimpleCommand } from "../../kit/simple_command.ts";

/** Variables that bash sets or uses itself. */
const OWN_VARIABLES =
  /^(?:_|BASH.*|COLUMNS|COMP.*|COPROC.*|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HIST.*|IFS|LINENO|LINES|MAPFILE|OLDPWD|OPT.*|PATH|PIPESTATUS|PPID|PS\d|PWD|S?RANDOM|READLINE.*|REPLY|SECONDS|SHELLOPTS|SHLVL|UID)$/;

/** Commands that may set variables which their arguments name. */
const SETTERS =
  /^(?:read|mapfile|readarray|getopts|declare|typeset|local|export|readonly|unset|eval|trap|let|source|\.)$/;

/** Maximum length of a value, which many words may contain. */
const MAX_VALUE = 100;

/** The value of an expansion without quotes that stays one word. */
const ONE_WORD = /^[\w./:@%+,=-]+$/;

/** A variable with its value. */
interface Constant {
  readonly name: string;
  readonly value: string;
}

/** Constants by the commands that assign them, before which they are not known. */
export type Constants = ReadonlyMap<Command, readonly Constant[]>;

/**
 * Finds the variables that a script certainly assigns before all that follows, and nowhere else.
 *
 * @param isLiteral Whether a word has no expansions.
 */
export function findConstants(
  root: Script,
  nodes: readonly SyntaxNode[],
  isLiteral: (word: Word) => boolean,
): Constants {
  const first = root.commands.flatMap((statement) => findFirstCommand(statement) ?? []);
  // A substitution in one of the values would run without the others.
  const isConstant = (node: Command["prefix"][number]) =>
    node.type === "Assignment" && isPlainAssignment(node) && node.value.type === "Word" &&
    isLiteral(node.value);
  const assigning = first.filter(({ name, prefix }) => !name && prefix.every(isConstant));
  const candidates = assigning.flatMap((command) =>
    command.prefix.flatMap((node) => node.type === "Assignment" ? [{ command, node }] : [])
  );
  if (candidates.length === 0) return new Map();
  const others = listChangedNames(nodes, new Set(candidates.map(({ node }) => node)));
  // Another separator of words would divide values.
  if (others.has("IFS")) return new Map();
  const constants = new Map<Command, Constant[]>();
  for (const { command, node } of candidates) {
    const { name, value } = node;
    if (others.has(name) || value.type !== "Word") continue;
    const constant = { name, value: value.value };
    const known = constants.get(command);
    if (known) known.push(constant);
    else constants.set(command, [constant]);
  }
  return constants;
}

/** Returns the command that a statement certainly runs in the shell itself. */
function findFirstCommand({ command, background }: Statement): Command | undefined {
  if (background === true) return undefined;
  const first = command.type === "AndOr" ? command.commands[0] : command;
  return first?.type === "Command" ? first : undefined;
}

function isPlainAssignment({ name, value, text, index }: Assignment): boolean {
  return value.type === "Word" && value.value !== "" && value.value.length <= MAX_VALUE &&
    index === undefined &&
    text.startsWith(`${name}=`) && !OWN_VARIABLES.test(name);
}

/** Lists the names of the variables that other nodes may set. */
function listChangedNames(
  nodes: readonly SyntaxNode[],
  candidates: ReadonlySet<SyntaxNode>,
): ReadonlySet<string> {
  const names = new Set<string>();
  const assigned = new Set<string>();
  const addNames = (text: string) => {
    for (const [name] of text.matchAll(/\w+/g)) names.add(name);
  };
  for (const node of nodes) {
    switch (node.type) {
      case "Assignment":
        if (assigned.has(node.name) || !candidates.has(node) || node.name === "IFS") {
          names.add(node.name);
        }
        assigned.add(node.name);
        break;
      case "For":
      case "Select":
        names.add(node.name.text);
        break;
      case "Coproc":
        addNames(`${node.name?.text ?? ""} ${node.name?.text ?? ""}_PID`);
        break;
      case "ArithmeticWord":
        addNames(node.value);
        break;
      case "ParameterExpansion":
        if (node.text.includes("=")) names.add(node.parameter);
        break;
      case "Command": {
        const words = [...(node.name ? [node.name.value] : []), ...node.args.map(getText)];
        if (words.some((text) => SETTERS.test(text))) words.forEach(addNames);
        break;
      }
    }
  }
  return names;
}

function getText(arg: Word | Assignment): string {
  return arg.type === "Word" ? arg.value : arg.text;
}

/**
 * Replaces constants by their values in the name of a program, the targets of redirections, and the arguments of `sed` and
 * `tee`. Other names, without a directory, may be those of commands of bash, which are found by their names as they are written.
 */
export function foldCommand(
  command: SimpleCommand,
  { name, args, redirects }: Command,
  values: ReadonlyMap<string, string>,
): SimpleCommand {
  if (values.size === 0) return command;
  const fold = (word: ShellWord, node: Word | Assignment | undefined): ShellWord => {
    if (word.literal || node?.type !== "Word") return word;
    const text = foldWord(node, values);
    return text === undefined ? word : { text, literal: true, written: word.text };
  };
  const [program, ...rest] = command.words;
  const foldedProgram = program && fold(program, name);
  const hasFiles = /^(?:g?sed|tee)$/.test(name?.value ?? "");
  const words = [
    ...foldedProgram ? [foldedProgram.text.includes("/") ? foldedProgram : program] : [],
    ...hasFiles ? rest.map((word, index) => fold(word, args[index])) : rest,
  ];
  const targets = command.redirects.map((redirect, index) => {
    const { [index]: node } = redirects;
    if (!redirect.target || !node || node.type === "HereDoc") return redirect;
    return { ...redirect, target: fold(redirect.target, node.target) };
  });
  return { ...command, words, redirects: targets };
}

/** Returns the text of a word whose expansions are all of constants, each of which stays a part of the word. */
function foldWord({ parts = [] }: Word, values: ReadonlyMap<string, string>): string | undefined {
  const texts = parts.map((part) => foldPart(part, values));
  return parts.length === 0 || texts.includes(undefined) ? undefined : texts.join("");
}

function foldPart(part: WordPart, values: ReadonlyMap<string, string>): string | undefined {
  switch (part.type) {
    case "Literal":
      // Other characters may make it a pattern, or a directory.
      return /^[\w./:@%+,=-]*$/.test(part.text) ? part.text : undefined;
    case "SingleQuoted":
      return part.value;
    case "DoubleQuoted": {
      const texts = part.parts.map((child) => foldQuoted(child, values));
      return texts.includes(undefined) ? undefined : texts.join("");
    }
    case "SimpleExpansion":
    case "ParameterExpansion": {
      const value = foldQuoted(part, values);
      return value !== undefined && ONE_WORD.test(value) ? value : undefined;
    }
    default:
      return undefined;
  }
}

function foldQuoted(
  part: DoubleQuotedChild,
  values: ReadonlyMap<string, string>,
): string | undefined {
  if (part.type === "Literal") return part.value;
  const [, name, braced = ""] = /^\$(?:(\w+)|\{(\w+)\})$/.exec(part.text) ?? [];
  return values.get(name ?? braced);
}
