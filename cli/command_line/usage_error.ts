/**
 * Checks of a command line against its definition, with messages that state how to correct it.
 *
 * @module
 */

import { UsageError } from "../host/cli_error.ts";
import {
  type ArgumentDefinition,
  type CommandDefinition,
  type CommandPath,
  formatValue,
  getOptions,
  getVisibleOptions,
  type NamedOption,
  toFlag,
} from "./definition.ts";
import { didYouMean, findSuggestion } from "./suggestion.ts";

/**
 * Checks that no argument is left where a subcommand is expected. A command with arguments of its own takes every word that
 * is no subcommand.
 *
 * @throws {UsageError} If the first argument is not the name of a subcommand.
 */
export function checkSubcommand({ command, path }: CommandPath, [word]: readonly string[]): void {
  const { commands = [], defaultCommand } = command;
  const isExpected = commands.length > 0 && !command.arguments;
  if (!isExpected || word === undefined || isOption(word)) return;
  const textCommand = commands.find(({ arguments: [first] = [] }) => first?.variadic);
  if (/\s/.test(word) && !defaultCommand && textCommand) {
    throw createUsageError(
      path,
      `The command before ${quote(word)} is missing`,
      `Try: ${path} ${textCommand.name} ${quote(word)}`,
    );
  }
  const meant = findCommandMeant(word, command);
  const message = `Unknown command ${quote(word)}${meant ? `. Did you mean ${meant}?` : ""}`;
  const advice = defaultCommand && meant &&
    `For a prompt that begins with this word: ${path} -- ${word} …`;
  throw createUsageError(path, message, advice);
}

/** Finds the command that a word was probably meant to be: also by the name that other programs have for it. */
export function findCommandMeant(
  word: string,
  { commands = [], synonyms = {} }: CommandDefinition,
): string | undefined {
  if (Object.hasOwn(synonyms, word)) return synonyms[word];
  return findSuggestion(word, commands.map(({ name }) => name));
}

/**
 * Checks that the command has every flag of a command line, and that a flag has a value exactly if it takes one. A value
 * that begins with a dash must be written as `--flag=value`.
 *
 * @returns The name of the first standalone option, if any; the arguments after it are not checked.
 * @throws {UsageError} For the first invalid flag.
 */
export function checkFlags(target: CommandPath, line: readonly string[]): string | undefined {
  for (const [index, arg] of line.entries()) {
    if (arg === "--") return undefined;
    if (!isOption(arg)) continue;
    const [flag = arg] = arg.split("=", 1);
    const option = getOptions(target.command).find(({ flags }) => flags.includes(flag));
    if (!option) throw createUnknownOptionError(flag, target);
    if (option.standalone && arg === flag) return option.name;
    const inlineValue = arg === flag ? undefined : arg.slice(flag.length + 1);
    checkValue(target, option, { flag, inlineValue, next: line[index + 1] });
  }
  return undefined;
}

interface FlagValue {
  /** The flag as typed. */
  readonly flag: string;
  /** The value of `--flag=value`. */
  readonly inlineValue: string | undefined;
  /** The next argument. */
  readonly next: string | undefined;
}

function checkValue(
  { path }: CommandPath,
  option: NamedOption,
  { flag, inlineValue, next }: FlagValue,
): void {
  if (option.type === "boolean") {
    if (inlineValue === undefined) return;
    throw createUsageError(path, `Option ${flag} does not take a value`);
  }
  if (option.optionalValue && inlineValue === undefined && next !== "") return;
  const value = inlineValue ?? next ?? "";
  const isOtherOption = inlineValue === undefined && isOption(value);
  if (value !== "" && !isOtherOption) return;
  if (option.optionalValue && value === "") {
    throw createUsageError(path, `The value of ${flag} is empty: ${flag} ${formatValue(option)}`);
  }
  const hint = isOtherOption ? ` (or ${flag}=${next} if ${next} is the value)` : "";
  throw createUsageError(
    path,
    `Option ${flag} requires a value: ${flag} ${formatValue(option)}${hint}`,
  );
}

/**
 * Parses the value of an option.
 *
 * @throws {UsageError} If the option does not accept the value.
 */
export function parseValue(
  { path }: CommandPath,
  option: NamedOption,
  text: string,
): string | number {
  const flag = toFlag(option.name);
  checkChoice(path, flag, { choices: option.choices, text });
  if (option.type !== "integer" && option.type !== "number") return text;
  if (option.type === "integer" && !/^-?\d+$/.test(text)) {
    throw createUsageError(path, `Option ${flag} requires an integer, not ${quote(text)}`);
  }
  if (!/^-?(\d+\.?\d*|\.\d+)$/.test(text)) {
    throw createUsageError(path, `Option ${flag} requires a number, not ${quote(text)}`);
  }
  const { minimum = -Infinity } = option;
  if (option.type === "integer" && Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER) {
    throw createUsageError(path, `Option ${flag} is too large: ${text}`);
  }
  if (Number(text) >= minimum) return Number(text);
  throw createUsageError(path, `Option ${flag} must be at least ${minimum}, not ${text}`);
}

/**
 * Checks that no two options conflict.
 *
 * @param values The options that occur on the command line, by name.
 * @throws {UsageError} If two of them cannot be combined.
 */
export function checkConflicts({ command, path }: CommandPath, values: object): void {
  for (const { name, conflicts = [] } of getOptions(command)) {
    const other = name in values ? conflicts.find((conflict) => conflict in values) : undefined;
    if (other === undefined) continue;
    throw createUsageError(path, `${toFlag(name)} and ${toFlag(other)} cannot be combined`);
  }
}

/**
 * Checks the number of arguments, and their values where only some are valid.
 *
 * @throws {UsageError} If an argument is missing or invalid, or there are too many.
 */
export function checkArguments({ command, path }: CommandPath, words: readonly string[]): void {
  const definitions = command.arguments ?? [];
  const missing = definitions.filter(({ optional }) => !optional)[words.length];
  if (missing) {
    const advice = missing.choices && `Choose one of: ${missing.choices.join(", ")}`;
    throw createUsageError(path, `Argument <${missing.name}> of ${path} is missing`, advice);
  }
  for (const [index, text] of words.entries()) {
    const definition = definitions[index] ?? findVariadic(definitions);
    if (!definition) throw createUsageError(path, `Too many arguments for ${path}: ${quote(text)}`);
    checkChoice(path, `<${definition.name}>`, { choices: definition.choices, text });
  }
}

function findVariadic(definitions: readonly ArgumentDefinition[]): ArgumentDefinition | undefined {
  const last = definitions.at(-1);
  return last?.variadic ? last : undefined;
}

function checkChoice(
  path: string,
  subject: string,
  { choices, text }: { readonly choices: readonly string[] | undefined; readonly text: string },
): void {
  if (!choices || choices.includes(text)) return;
  const message = `Invalid value ${quote(text)} for ${subject}: must be one of ${
    choices.join(", ")
  }`;
  throw createUsageError(path, message + didYouMean(text, choices));
}

/** An option of the program, which no command has. */
const VERSION_FLAG = "--version";

function createUnknownOptionError(flag: string, { command, path }: CommandPath): UsageError {
  if (/\s/.test(flag)) {
    const advice = `To pass an argument that begins with a dash: ${path} -- ${quote(flag)}`;
    return createUsageError(path, `${quote(flag)} looks like an option`, advice);
  }
  // Also those of options that only work without a terminal, where most programs use the flags.
  const synonym = getOptions(command).map(({ synonyms = {} }) => synonyms)
    .find((synonyms) => Object.hasOwn(synonyms, flag))?.[flag];
  if (synonym !== undefined) {
    return createUsageError(path, `Unknown option ${flag}. Did you mean ${synonym}?`);
  }
  const flags = getVisibleOptions(command).flatMap((option) => option.flags);
  if (findSuggestion(flag, [...flags, VERSION_FLAG]) === VERSION_FLAG) {
    const [program = path] = path.split(" ");
    return createUsageError(
      path,
      `Unknown option ${flag}. Did you mean ${program} ${VERSION_FLAG}?`,
    );
  }
  const owner = command.commands?.find((subcommand) =>
    getVisibleOptions(subcommand).some((option) => option.flags.includes(flag))
  );
  const advice = owner &&
    `It is an option of ${path} ${owner.name}: ${path} ${owner.name} ${flag} …`;
  return createUsageError(path, `Unknown option ${flag}${didYouMean(flag, flags)}`, advice);
}

function createUsageError(path: string, message: string, advice?: string): UsageError {
  return new UsageError(message, advice ?? `See: ${path} --help`);
}

/** Whether an argument is a flag; `-` alone is not. */
function isOption(arg: string): boolean {
  return arg.startsWith("-") && arg !== "-";
}

function quote(text: string): string {
  return JSON.stringify(text);
}
