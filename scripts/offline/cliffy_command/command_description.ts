import type { Argument, Option } from "./definition.ts";

/** What a command was declared with. */
export interface CommandDefinition {
  name: string;
  description: string;
  aliases: string[];
  examples: { name: string; description: string }[];
  arguments: Argument[];
  options: Option[];
  commands: Map<string, CommandDescription>;
  parent?: CommandDescription;
  hidden: boolean;
  literal: string[];
  action(options: unknown, args: unknown[]): unknown;
}

/** A command as a program may ask it about itself. */
export class CommandDescription {
  readonly definition: CommandDefinition = {
    name: "",
    description: "",
    aliases: [],
    examples: [],
    arguments: [],
    options: [],
    commands: new Map(),
    hidden: false,
    literal: [],
    action: () => {},
  };

  getName(): string {
    return this.definition.name;
  }

  /** The names from the main command down to this one. */
  getPath(): string {
    const { name, parent } = this.definition;
    return parent ? `${parent.getPath()} ${name}` : name;
  }

  getDescription(): string {
    return this.definition.description;
  }

  getAliases(): string[] {
    return this.definition.aliases;
  }

  getExamples(): { name: string; description: string }[] {
    return this.definition.examples;
  }

  getArguments(): Argument[] {
    return this.definition.arguments;
  }

  getParent(): CommandDescription | undefined {
    return this.definition.parent;
  }

  /** What stood behind `--` when the command was last parsed. */
  getLiteralArgs(): string[] {
    return this.definition.literal;
  }

  getCommands(hidden = false): CommandDescription[] {
    return [...this.definition.commands.values()].filter((command) =>
      hidden || !command.definition.hidden
    );
  }

  getCommand(name: string, hidden = false): CommandDescription | undefined {
    return this.getCommands(hidden).find((command) =>
      command.getName() === name || command.getAliases().includes(name)
    );
  }

  /** Its ancestors' global options and its own ones. */
  getOptions(hidden = false): Option[] {
    const { options, parent } = this.definition;
    const inherited = parent?.getOptions(true).filter((option) => option.global) ?? [];
    return [...inherited, ...options].filter((option) => hidden || !option.hidden);
  }

  getOption(name: string, hidden = false): Option | undefined {
    return this.getOptions(hidden).find((option) => option.name === name);
  }
}
