/**
 * What is wrong with a command line, in words that say what to type instead.
 *
 * The parser would notice most of it as well, but passes unknown options of a command with arguments on as arguments,
 * and has no words for what was meant.
 *
 * @module
 */

import { UsageError } from "./cli_error.ts";
import { type CommandShape, type OptionShape, parseOptionValue } from "./command_shape.ts";
import { findSuggestion } from "./suggestion.ts";

/** The first thing that is wrong with a command line, if anything is. */
export function findUsageError(
  root: CommandShape,
  args: readonly string[],
): UsageError | undefined {
  const reading = new UsageChecker(root);
  try {
    reading.check(args);
    return undefined;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return new UsageError(error.message, error.advice || `See: ${reading.path} --help`);
  }
}

/** One pass over a command line. */
class UsageChecker {
  #command: CommandShape;
  #argumentCount = 0;
  readonly #seen = new Set<string>();

  constructor(root: CommandShape) {
    this.#command = root;
  }

  get path(): string {
    return this.#command.getPath();
  }

  check(args: readonly string[]): void {
    for (let at = 0; at < args.length; at++) {
      const arg = args[at] ?? "";
      if (arg === "--") break;
      if (!isOption(arg)) {
        this.#checkWord(arg);
        continue;
      }
      const option = this.#findOption(arg);
      if (option.standalone) return;
      if (this.#checkValue(option, arg, args[at + 1])) at++;
    }
    this.#checkArguments();
  }

  #checkWord(word: string): void {
    const commands = this.#command.getCommands(true);
    if (commands.length === 0) return void this.#argumentCount++;
    const next = this.#command.getCommand(word, true);
    if (!next) throw createUnknownCommandError(word, this.#command);
    this.#command = next;
  }

  #findOption(arg: string): OptionShape {
    const [flag = arg] = arg.split("=", 1);
    const options = this.#command.getOptions(true);
    const option = options.find(({ flags }) => flags.includes(flag));
    if (!option) throw createUnknownOptionError(flag, this.#command);
    if (this.#seen.has(option.name) && !option.collect) {
      throw new UsageError(`${flag} can be given only once`);
    }
    this.#seen.add(option.name);
    return option;
  }

  /** Checks an option's value; whether it is the next argument. */
  #checkValue(option: OptionShape, arg: string, next: string | undefined): boolean {
    const [flag = arg] = arg.split("=", 1);
    const isInline = arg.includes("=");
    const wanted = parseOptionValue(option);
    if (!wanted) {
      if (isInline) throw new UsageError(`${flag} takes no value`);
      return false;
    }
    const value = isInline ? arg.slice(flag.length + 1) : next;
    if (value === undefined || value === "" || (!isInline && isOption(value))) {
      const hint = value && isOption(value) ? ` (or ${flag}=${value}, if that is the value)` : "";
      throw new UsageError(`${flag} needs a value: ${flag} <${wanted.name}>${hint}`);
    }
    if (wanted.type === "integer" && !/^-?\d+$/.test(value)) {
      throw new UsageError(`${flag} takes a whole number, not ${JSON.stringify(value)}`);
    }
    return !isInline;
  }

  #checkArguments(): void {
    const places = this.#command.getArguments();
    if (places.some(({ variadic }) => variadic)) return;
    const needed = places.filter(({ optional }) => !optional);
    const missing = needed[this.#argumentCount];
    if (missing) throw new UsageError(`${this.path} needs a <${missing.name}>`);
    if (this.#argumentCount > places.length) {
      throw new UsageError(`${this.path} was given too many arguments`);
    }
  }
}

/** `-` alone stands for standard input. */
function isOption(arg: string): boolean {
  return arg.startsWith("-") && arg !== "-";
}

function createUnknownOptionError(flag: string, command: CommandShape): UsageError {
  if (/\s/.test(flag)) {
    const advice = `Write -- before what begins with a dash: ${command.getPath()} -- …`;
    return new UsageError(`${JSON.stringify(flag)} looks like an option`, advice);
  }
  const flags = command.getOptions().flatMap((option) => option.flags);
  const suggestion = findSuggestion(flag, flags);
  const meant = suggestion ? `. Did you mean ${suggestion}?` : "";
  const owner = command.getCommands().find((below) =>
    below.getOptions().some((option) => option.flags.includes(flag))
  );
  const advice = owner && `It is an option of ${owner.getPath()}: ${owner.getPath()} ${flag} …`;
  return new UsageError(`${command.getPath()} has no option ${flag}${meant}`, advice);
}

function createUnknownCommandError(word: string, command: CommandShape): UsageError {
  if (/\s/.test(word)) {
    return new UsageError(
      "A prompt needs a command before it",
      `Try: swink run ${JSON.stringify(word)}`,
    );
  }
  const suggestion = findSuggestion(word, command.getCommands().map((known) => known.getName()));
  const meant = suggestion ? `. Did you mean ${suggestion}?` : "";
  return new UsageError(`${command.getPath()} has no command ${JSON.stringify(word)}${meant}`);
}
