import { Command as Commander, type CommanderError } from "npm:commander@^15.1.0";
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

/**
 * A command and its subcommands: the part of the package that this project uses, over `commander`.
 *
 * It never prints and never exits, so every command requires `.helpOption(false).throwErrors().noExit()`. A command is
 * complete before its subcommands are added, because methods of the original apply to the last subcommand then.
 */
export class Command {
  #name = "";
  #takesArguments = false;
  readonly #options: { readonly flags: string; readonly isCollected: boolean }[] = [];
  readonly #commands: Command[] = [];
  readonly #requiredCalls = new Set<string>();
  #action: () => unknown = () => {};

  arguments(definition: string): this {
    this.#assertNoCommands("arguments");
    if (definition !== "[words...:string]") {
      throw new Error(`The offline package does not support the arguments "${definition}"`);
    }
    this.#takesArguments = true;
    return this;
  }

  option(flags: string, _description: string, { collect = false }: OptionSettings = {}): this {
    this.#assertNoCommands("option");
    if (!/^(-\w, )?--[a-z][a-z-]*( <[\w-]+:string>)?$/.test(flags)) {
      throw new Error(`The offline package does not support the option "${flags}"`);
    }
    this.#options.push({ flags: flags.replace(":string>", ">"), isCollected: collect });
    return this;
  }

  action(action: () => unknown): this {
    this.#assertNoCommands("action");
    this.#action = action;
    return this;
  }

  command(name: string, command: Command): this {
    command.#name = name;
    this.#commands.push(command);
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
    const end = args.indexOf("--");
    const line = end < 0 ? args : args.slice(0, end);
    const literal = end < 0 ? [] : args.slice(end + 1);
    const results: CommandResult[] = [];
    const commander = this.#toCommander((result) => results.push({ ...result, literal }));
    await commander.parseAsync(line, { from: "user" });
    const [result] = results;
    if (!result) throw new Error(`No command handles "${args.join(" ")}"`);
    await result.cmd.#action();
    return result;
  }

  #toCommander(onResult: (result: Omit<CommandResult, "literal">) => void): Commander {
    if (this.#requiredCalls.size < 3) {
      throw new Error("Call helpOption(false), throwErrors() and noExit() before parse()");
    }
    const commander = new Commander(this.#name)
      .helpOption(false).helpCommand(false).enablePositionalOptions()
      .allowExcessArguments(this.#takesArguments)
      // The original passes unknown options of a command with arguments as arguments.
      .allowUnknownOption(this.#takesArguments)
      .configureOutput({ writeOut: () => {}, writeErr: () => {} })
      .exitOverride((error) => {
        throw this.#toValidationError(error);
      });
    for (const { flags, isCollected } of this.#options) {
      if (isCollected) commander.option(flags, "", collect);
      else commander.option(flags, "");
    }
    for (const command of this.#commands) commander.addCommand(command.#toCommander(onResult));
    return commander.action(() =>
      onResult({ cmd: this, options: commander.opts(), args: commander.args })
    );
  }

  #assertNoCommands(method: string): void {
    if (this.#commands.length > 0) throw new Error(`Call ${method}() before command()`);
  }

  #toValidationError(error: CommanderError): ValidationError {
    const validationError = new ValidationError(error.message, { cause: error });
    validationError.cmd = this;
    return validationError;
  }
}

function collect(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}
