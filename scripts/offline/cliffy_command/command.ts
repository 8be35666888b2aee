import { CommandDescription } from "./command_description.ts";
import { parseCommandLine } from "./command_line.ts";
import { type CommandResult, type OptionOptions, readArguments, readOption } from "./definition.ts";
import type { ArgumentsOf, OptionOf } from "./option_types.ts";

type NoOptions = Record<never, never>;

/**
 * A command and its sub-commands: the part of the package that this project uses.
 *
 * It never prints and never exits, so a program that uses it says so: `.throwErrors().noExit()` and `.helpOption(false)`
 * on the main command.
 */
export class Command<Options = NoOptions, Arguments extends unknown[] = []>
  extends CommandDescription {
  #requiredCalls = new Set<string>();

  name(name: string): this {
    this.definition.name = name;
    return this;
  }

  description(description: string): this {
    this.definition.description = description;
    return this;
  }

  example(name: string, description: string): this {
    this.definition.examples.push({ name, description });
    return this;
  }

  alias(alias: string): this {
    this.#assertBeforeCommands("alias");
    this.definition.aliases.push(alias);
    return this;
  }

  hidden(): this {
    this.#assertBeforeCommands("hidden");
    this.definition.hidden = true;
    return this;
  }

  option<Flags extends string, const Settings extends OptionOptions = NoOptions>(
    flags: Flags,
    description: string,
    settings?: Settings,
  ): Command<Options & OptionOf<Flags, Settings>, Arguments> {
    return this.#addOption(flags, description, { ...settings, global: false });
  }

  globalOption<Flags extends string, const Settings extends OptionOptions = NoOptions>(
    flags: Flags,
    description: string,
    settings?: Settings,
  ): Command<Options & OptionOf<Flags, Settings>, Arguments> {
    return this.#addOption(flags, description, { ...settings, global: true });
  }

  arguments<Text extends string>(definition: Text): Command<Options, ArgumentsOf<Text>> {
    this.#assertBeforeCommands("arguments");
    this.definition.arguments = readArguments(definition);
    return this as unknown as Command<Options, ArgumentsOf<Text>>;
  }

  action(action: (options: Options, ...args: Arguments) => unknown): this {
    this.#assertBeforeCommands("action");
    this.definition.action = (options, args) =>
      action.call(this, options as Options, ...args as Arguments);
    return this;
  }

  /** Adds a sub-command; what belongs to the command itself is declared before it. */
  command(name: string, command: CommandDescription): this {
    command.definition.name = name;
    command.definition.parent = this;
    this.definition.commands.set(name, command);
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

  /** Reads the command line and runs the action of the command it names. */
  async parse(args: string[]): Promise<CommandResult> {
    if (this.#requiredCalls.size < 3) {
      throw new Error("Call throwErrors(), noExit() and helpOption(false) before parse().");
    }
    const result = await parseCommandLine(this, args);
    result.cmd.definition.literal = result.literal;
    await result.cmd.definition.action(result.options, result.args);
    return result;
  }

  #addOption<Result>(
    flags: string,
    description: string,
    settings: OptionOptions & { global: boolean },
  ): Result {
    this.#assertBeforeCommands("option");
    this.definition.options.push(readOption(flags, description, settings));
    return this as unknown as Result;
  }

  #assertBeforeCommands(method: string): void {
    if (this.definition.commands.size > 0) {
      throw new Error(`Call ${method}() of a command before command().`);
    }
  }
}
