import { ValidationError } from "./validation_error.ts";

/** Options for `Command.option()`. */
export interface OptionSettings {
  /** Whether the option may occur several times; its values become an array. */
  collect?: boolean;
}

/** A parsed command line. */
export interface CommandResult {
  options: Record<string, unknown>;
  args: string[];
  /** The arguments after `--`. */
  literal: string[];
  /** The command that the command line names. */
  cmd: Command;
}

interface Option {
  readonly flags: readonly string[];
  /** Key of its value: the long flag in camelCase. */
  readonly key: string;
  /** Whether it takes a value; an optional one is `true` if it is missing. */
  readonly value: "none" | "required" | "optional";
  readonly isCollected: boolean;
}

/**
 * A command and its subcommands: the part of the package that this project uses.
 *
 * It never prints and never exits, so every command requires `.helpOption(false).throwErrors().noExit()`. A command is
 * complete before its subcommands are added, because methods of the original apply to the last subcommand then.
 */
export class Command {
  readonly #options: Option[] = [];
  readonly #commands = new Map<string, Command>();
  readonly #requiredCalls = new Set<string>();
  #action: () => unknown = () => {};

  arguments(definition: string): this {
    this.#assertNoCommands("arguments");
    if (definition !== "[words...:string]") {
      throw new Error(`The offline package does not support the arguments "${definition}"`);
    }
    this.#requiredCalls.add("arguments");
    return this;
  }

  option(
    definition: string,
    _description: string,
    { collect: isCollected = false }: OptionSettings = {},
  ): this {
    this.#assertNoCommands("option");
    if (!/^(-\w, )?--[a-z][a-z-]*( (<[\w-]+:string>|\[[\w-]+:string\]))?$/.test(definition)) {
      throw new Error(`The offline package does not support the option "${definition}"`);
    }
    const [, list = "", bracket] = /^(.+?)(?: ([<[]).*)?$/.exec(definition) ?? [];
    const flags = list.split(", ");
    const key = flags.at(-1)?.slice(2).replace(/-(\w)/g, (_, letter) => letter.toUpperCase()) ?? "";
    const value = bracket === undefined ? "none" : bracket === "<" ? "required" : "optional";
    this.#options.push({ flags, key, value, isCollected });
    return this;
  }

  action(action: () => unknown): this {
    this.#assertNoCommands("action");
    this.#action = action;
    return this;
  }

  command(name: string, command: Command): this {
    this.#commands.set(name, command);
    return this;
  }

  throwErrors(): this {
    this.#requiredCalls.add("throwErrors");
    return this;
  }

  noExit(): this {
    this.#requiredCalls.add("noExit");
    return this;
  }

  helpOption(_enable: false): this {
    this.#requiredCalls.add("helpOption");
    return this;
  }

  /** Parses a command line and calls the action of the command that it names. */
  async parse(args: string[]): Promise<CommandResult> {
    const [first = "", ...rest] = args;
    const subcommand = this.#commands.get(first);
    if (subcommand) return await subcommand.parse(rest);
    if (this.#requiredCalls.size < 4) {
      throw new Error(
        "Call arguments(), helpOption(false), throwErrors() and noExit() before parse()",
      );
    }
    const end = args.indexOf("--");
    const line = end < 0 ? args : args.slice(0, end);
    const literal = end < 0 ? [] : args.slice(end + 1);
    const result = { ...this.#parseLine(line), literal, cmd: this };
    await this.#action();
    return result;
  }

  #parseLine(line: readonly string[]): Pick<CommandResult, "options" | "args"> {
    const negated = this.#options.filter(({ key }) => isNegated(key));
    const options: Record<string, unknown> = Object.fromEntries(
      negated.map(({ key }) => [toPositive(key), true]),
    );
    const args: string[] = [];
    for (let index = 0; index < line.length; index++) {
      const word = line[index] ?? "";
      const [flag = "", ...parts] = word.split("=");
      const option = this.#options.find(({ flags }) => flags.includes(flag));
      // The original passes unknown options of a command with arguments as arguments.
      if (!option) {
        args.push(word);
        continue;
      }
      const inlineValue = parts.length > 0 ? parts.join("=") : undefined;
      const hasNext = index + 1 < line.length && !isFlag(line[index + 1] ?? "");
      const takesNext = inlineValue === undefined && option.value !== "none" && hasNext;
      if (takesNext) index++;
      const value = inlineValue ?? (takesNext ? line[index] : undefined) ?? true;
      const expectsValue = option.value === "required";
      if (option.value !== "optional" && expectsValue === (value === true)) {
        throw this.#createError(flag);
      }
      if (isNegated(option.key)) {
        options[toPositive(option.key)] = false;
        continue;
      }
      const earlier = options[option.key];
      options[option.key] = option.isCollected
        ? [...(Array.isArray(earlier) ? earlier : []), value]
        : value;
    }
    return { options, args };
  }

  #assertNoCommands(method: string): void {
    if (this.#commands.size > 0) throw new Error(`Call ${method}() before command()`);
  }

  #createError(flag: string): ValidationError {
    const error = new ValidationError(`Invalid value of option "${flag}".`);
    error.cmd = this;
    return error;
  }
}

/** Whether a word is a flag and not the value of an option. */
function isFlag(word: string): boolean {
  return word.startsWith("-") && word !== "-";
}

/** The original reads `--no-color` as the value `false` of `color`. */
function isNegated(key: string): boolean {
  return /^no[A-Z]/.test(key);
}

function toPositive(key: string): string {
  return key.charAt(2).toLowerCase() + key.slice(3);
}
