/**
 * Parses command lines with `@cliffy/command`, from the table of commands.
 *
 * @module
 */

import { Command, ValidationError } from "@cliffy/command";
import { UsageError } from "../host/cli_error.ts";
import {
  type CommandDefinition,
  type CommandPath,
  formatValue,
  getOptions,
  type Invocation,
  type NamedOption,
  type OptionValue,
  toFlag,
} from "./definition.ts";
import { findSimilar } from "./suggestion.ts";
import {
  checkArguments,
  checkConflicts,
  checkFlags,
  checkSubcommand,
  findCommandMeant,
  parseValue,
} from "./usage_error.ts";

/** A parsed command line. */
export interface ParsedCommandLine extends CommandPath, Invocation {}

/**
 * Parses a command line.
 *
 * @param program The top-level command.
 * @param args The command line, without the name of the program.
 * @throws {UsageError} If the command line is invalid.
 */
export async function parseCommandLine(
  program: CommandDefinition,
  args: readonly string[],
): Promise<ParsedCommandLine> {
  const { target: found, rest } = findCommand(program, expandShorthands(program, args));
  const line = normalizeOptions(found, rest);
  const { error, values, words, ...target } = await parseWords(found, line);
  checkSubcommand(target, words);
  const standalone = checkFlags(target, line);
  if (standalone !== undefined) {
    const given = new Set([standalone]);
    return { ...target, options: { [standalone]: true }, given, arguments: [], program };
  }
  if (error) throw new UsageError(error.message, `See: ${target.path} --help`);
  const options = getOptions(target.command).map((option) =>
    [option.name, parseOption(target, option, values[option.name])] as const
  );
  checkConflicts(target, values);
  checkArguments(target, words);
  const given = new Set(Object.keys(values));
  return { ...target, options: Object.fromEntries(options), given, arguments: words, program };
}

/**
 * Replaces `swink help run` and `swink --help run` by `swink run --help`, `swink -p` by `swink run -p`, and `swink -c` by
 * `swink chat -c`. A standalone option that comes first drops the rest.
 */
function expandShorthands(program: CommandDefinition, args: readonly string[]): string[] {
  const [first = "", ...rest] = args;
  if (first === "help") return [...rest, "--help"];
  const leading = findOption(getOptions(program), first);
  // The checks reject the value.
  if (leading && first.includes("=")) return [...args];
  if (leading?.name === "help") return [...findCommandNames(program, rest), "--help"];
  if (leading?.standalone) return [first];
  const isCommand = program.commands?.some((command) => command.name === first);
  if (isCommand) return [...args];
  const command = findShorthandCommand(program, args) ??
    (isMisspelled(program, args) ? undefined : program.defaultCommand);
  return command === undefined ? [...args] : [command, ...args];
}

/** Finds the command that a flag selects: `run` for `swink -p`, also for `swink -qp`. */
function findShorthandCommand(
  { shorthands = {}, commands = [], defaultCommand }: CommandDefinition,
  args: readonly string[],
): string | undefined {
  const names = [defaultCommand, ...Object.values(shorthands)];
  const options = commands.filter(({ name }) => names.includes(name)).flatMap(getOptions);
  const flag = splitAtDashes(args).words.flatMap((word) => separateFlags(options, word))
    .find((word) => Object.hasOwn(shorthands, word));
  return flag === undefined ? undefined : shorthands[flag];
}

/** Splits a command line before `--`, after which no argument is a flag. */
function splitAtDashes(
  line: readonly string[],
): { readonly words: readonly string[]; readonly rest: readonly string[] } {
  const end = line.indexOf("--");
  return end < 0 ? { words: line, rest: [] } : { words: line.slice(0, end), rest: line.slice(end) };
}

/** Finds the option of a flag, which may have a value: `--flag=value`. */
function findOption(options: readonly NamedOption[], word: string): NamedOption | undefined {
  const [flag = ""] = word.split("=", 1);
  return options.find(({ flags }) => flags.includes(flag));
}

/**
 * Whether the first argument is probably a misspelt command: one word that is similar to a name. A word that is only a
 * synonym also begins prompts of several words.
 */
function isMisspelled(
  program: CommandDefinition,
  [first = "", second]: readonly string[],
): boolean {
  if (first.startsWith("-") || /\s/.test(first)) return false;
  const isAlone = second === undefined || /^-|\s/.test(second);
  if (isAlone) return findCommandMeant(first, program) !== undefined;
  return findSimilar(first, program.commands?.map(({ name }) => name) ?? []) !== undefined;
}

/** Separates short flags that are written as one, such as `-qv`; only the last one may have a value. */
function separateFlags(options: readonly NamedOption[], word: string): string[] {
  if (!/^-[A-Za-z]{2,}$/.test(word)) return [word];
  const letters = Array.from(word.slice(1), (letter) => `-${letter}`);
  const isFlag = (letter: string, index: number) =>
    options.some(({ flags, type }) =>
      flags.includes(letter) && (type === "boolean" || index === letters.length - 1)
    );
  return letters.every(isFlag) ? letters : [word];
}

/**
 * Writes `-qv` as `-q -v` and `-ojson` as `--output-format=json`, and drops an option that occurs again: the last one
 * applies. An option without its optional value comes last, where no argument can be taken for the value.
 */
function normalizeOptions({ command }: CommandPath, line: readonly string[]): string[] {
  const options = getOptions(command);
  const { words, rest } = splitAtDashes(line);
  const groups = groupWords(options, words.flatMap((word) => separateFlags(options, word)));
  const kept = groups.filter(({ option }, index) =>
    !option || option.repeatable ||
    !groups.slice(index + 1).some((group) => group.option?.name === option.name)
  );
  const ordered = [...kept.filter((group) => !lacksValue(group)), ...kept.filter(lacksValue)];
  return [...ordered.flatMap((group) => group.words), ...rest];
}

/** Joins each option with the next word if that is its value. */
function groupWords(options: readonly NamedOption[], separated: readonly string[]): OptionGroup[] {
  const groups: OptionGroup[] = [];
  for (let index = 0; index < separated.length; index++) {
    const word = detachValue(options, separated[index] ?? "");
    const option = findOption(options, word);
    const next = separated[index + 1];
    const takesNext = option !== undefined && !word.includes("=") && canBeValue(option, next);
    if (takesNext) index++;
    groups.push({ ...(option && { option }), words: takesNext ? [word, next] : [word] });
  }
  return groups;
}

/** Whether the word after an option is its value. */
function canBeValue(
  { type, optionalValue }: NamedOption,
  word: string | undefined,
): word is string {
  if (type === "boolean" || word === undefined) return false;
  // A prompt, or the argument that waits for the input, is more likely.
  if (optionalValue && (word === "-" || /\s/.test(word))) return false;
  return word === "-" || !word.startsWith("-");
}

/** An option with its value, or an argument. */
interface OptionGroup {
  readonly option?: NamedOption;
  readonly words: readonly string[];
}

/** Whether a group is an option without its optional value. */
function lacksValue({ option, words: [word = "", value] }: OptionGroup): boolean {
  return option?.optionalValue === true && value === undefined && !word.includes("=");
}

/** Replaces an alias, and separates the value from a short flag. */
function detachValue(options: readonly NamedOption[], word: string): string {
  const [name = ""] = word.split("=", 1);
  const aliased = options.find(({ aliases }) => aliases?.includes(name));
  if (aliased) return toFlag(aliased.name) + word.slice(name.length);
  const flag = word.slice(0, 2);
  if (!/^-[A-Za-z][^=]/.test(word)) return word;
  const option = options.find(({ flags, type }) => type !== "boolean" && flags.includes(flag));
  return option ? `${toFlag(option.name)}=${word.slice(2)}` : word;
}

/** Finds the command whose name and parent names begin the command line, and the words after them. */
function findCommand(
  program: CommandDefinition,
  line: readonly string[],
): { readonly target: CommandPath; readonly rest: readonly string[] } {
  const [word = "", ...rest] = line;
  const command = program.commands?.find(({ name }) => name === word);
  if (!command) return { target: { command: program, path: program.name }, rest: line };
  const found = findCommand(command, rest);
  return { ...found, target: { ...found.target, path: `${program.name} ${found.target.path}` } };
}

/** Returns the names of the command, and of the commands below it, with which the arguments begin. */
function findCommandNames(program: CommandDefinition, args: readonly string[]): string[] {
  const names: string[] = [];
  let commands = program.commands ?? [];
  for (const arg of args) {
    const name = program.shorthands?.[arg] ?? arg;
    const command = commands.find((subcommand) => subcommand.name === name);
    if (!command) break;
    names.push(name);
    commands = command.commands ?? [];
  }
  return names;
}

function parseOption(
  target: CommandPath,
  option: NamedOption,
  value: string | true | readonly string[] | undefined,
): OptionValue {
  if (option.type === "boolean") return value === true;
  if (value === true && option.optionalValue) return true;
  if (value === undefined || value === true) return option.default;
  if (typeof value === "string") return parseValue(target, option, value);
  return value.map((text) => String(parseValue(target, option, text)));
}

/** A command line as Cliffy parses it, before any check. */
interface RawCommandLine extends CommandPath {
  /** Texts of the options, by name. */
  readonly values: Readonly<Record<string, string | true | readonly string[]>>;
  /** Positional arguments. */
  readonly words: readonly string[];
  /** The error with which Cliffy rejects the command line. */
  readonly error?: Error;
}

/**
 * Parses the part of a command line after the name of a command. The command is declared with arbitrary arguments and
 * string values, so that invalid ones are reported by `usage_error.ts` and not by Cliffy.
 */
async function parseWords(target: CommandPath, line: string[]): Promise<RawCommandLine> {
  try {
    const { options, args: words, literal } = await createParser(target).parse(line);
    // Cliffy infers the types of options only from a single chain of calls.
    const parsed = options as unknown as Readonly<Record<string, unknown>>;
    return {
      ...target,
      values: readValues(target, parsed),
      words: [...words as string[], ...literal],
    };
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return { ...target, values: {}, words: [], error };
  }
}

function createParser({ command }: CommandPath): Command {
  const parser = new Command();
  parser.helpOption(false).throwErrors().noExit();
  parser.arguments("[words...:string]").action(() => {});
  for (const option of getOptions(command)) {
    const value = formatValue(option).replace(/[>\]]$/, ":string$&");
    const { repeatable: collect = false } = option;
    parser.option(`${option.flags.join(", ")} ${value}`.trimEnd(), option.description, { collect });
  }
  return parser;
}

/** Returns the values of the options that occur. Cliffy reads `--no-session` as `session: false`, which is `true` without. */
function readValues(
  { command }: CommandPath,
  parsed: Readonly<Record<string, unknown>>,
): RawCommandLine["values"] {
  const entries = getOptions(command).flatMap(({ name }) => {
    const positive = /^no([A-Z]\w*)$/.exec(name)?.[1];
    if (positive === undefined) return name in parsed ? [[name, parsed[name]] as const] : [];
    const key = positive.charAt(0).toLowerCase() + positive.slice(1);
    return parsed[key] === false ? [[name, true] as const] : [];
  });
  return Object.fromEntries(entries) as RawCommandLine["values"];
}
