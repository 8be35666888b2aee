import {
  Command as Commander,
  type CommanderError,
  Option as CommanderOption,
} from "npm:commander@^15.1.0";
import type { CommandDescription } from "./command_description.ts";
import { type Argument, type CommandResult, type Option, readArguments } from "./definition.ts";
import { ValidationError } from "./validation_error.ts";

/** One reading of a command line: what has been found so far. */
interface Reading {
  seen: Set<string>;
  result?: Omit<CommandResult, "literal">;
}

/** Thrown by an option that stands alone, to leave the rest of the command line unread. */
class StandsAlone extends Error {}

/** Finds the command that a command line names, with its options and arguments. */
export async function parseCommandLine(
  main: CommandDescription,
  args: string[],
): Promise<CommandResult> {
  const end = args.indexOf("--");
  const [read, literal] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];

  const reading: Reading = { seen: new Set() };
  try {
    await commanderFor(main, reading).parseAsync(read, { from: "user" });
  } catch (error) {
    if (!(error instanceof StandsAlone)) throw error;
  }
  if (!reading.result) throw new Error(`No command was found in: ${args.join(" ")}`);
  return { ...reading.result, literal };
}

function commanderFor(command: CommandDescription, reading: Reading): Commander {
  const commander = new Commander(command.getName())
    .helpOption(false).helpCommand(false).enablePositionalOptions()
    .allowExcessArguments(false)
    // As in the original, what is not an option of a command with arguments is one of its arguments.
    .allowUnknownOption(command.getArguments().length > 0)
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .exitOverride((error) => {
      throw validationError(error, command);
    });
  for (const alias of command.getAliases()) commander.alias(alias);
  for (const argument of command.getArguments()) {
    commander.argument(placeOf(argument), "", (text: string, previous: unknown) => {
      refuseValueOfSwitch(text, command);
      const value = valueOf(text, argument, command);
      return argument.variadic ? [...asList(previous), value] : value;
    });
  }
  for (const option of command.getOptions(true)) addOption(commander, option, { command, reading });
  for (const child of command.getCommands(true)) {
    commander.addCommand(commanderFor(child, reading));
  }
  commander.action(() => {
    reading.result = {
      cmd: command,
      options: optionsOf(commander),
      args: commander.processedArgs.flat().filter((value) => value !== undefined),
    };
  });
  return commander;
}

function addOption(
  commander: Commander,
  option: Option,
  { command, reading }: { command: CommandDescription; reading: Reading },
): void {
  const [value] = readArguments(option.typeDefinition ?? "");
  const flags = value ? `${option.flags.join(", ")} ${placeOf(value)}` : option.flags.join(", ");
  const target = new CommanderOption(flags).conflicts(option.conflicts ?? []);
  if (option.default !== undefined) target.default(option.default);
  if (option.required) target.makeOptionMandatory();
  if (value) {
    target.argParser((text: string, previous: unknown) => {
      const parsed = valueOf(text, value, command);
      return option.collect ? [...asList(previous), parsed] : parsed;
    });
  }
  commander.addOption(target);
  commander.on(`option:${target.name()}`, () => {
    if (reading.seen.has(option.name) && !option.collect) {
      throw fault(`Option "--${option.name}" can only come once.`, command);
    }
    reading.seen.add(option.name);
    if (!option.standalone) return;
    reading.result = { cmd: command, options: optionsOf(commander), args: [] };
    throw new StandsAlone();
  });
}

/** `--print=yes` is no argument, as long as there is a `--print`. */
function refuseValueOfSwitch(text: string, command: CommandDescription): void {
  const option = command.getOptions(true).find(({ name }) => text.startsWith(`--${name}=`));
  if (option) throw fault(`Option "--${option.name}" takes no value.`, command);
}

/** Options given anywhere on the way to this command, over the defaults of the command itself. */
function optionsOf(commander: Commander): Record<string, unknown> {
  const options = commander.opts();
  for (let above = commander.parent; above; above = above.parent) {
    for (const [name, value] of Object.entries(above.opts())) {
      if (above.getOptionValueSource(name) === "cli") options[name] = value;
    }
  }
  return options;
}

function placeOf({ name, optional, variadic }: Argument): string {
  const text = variadic ? `${name}...` : name;
  return optional ? `[${text}]` : `<${text}>`;
}

function valueOf(text: string, argument: Argument, command: CommandDescription): unknown {
  if (!argument.list) return scalarOf(text, argument, command);
  return text.split(",").map((item) => scalarOf(item, argument, command));
}

function scalarOf(text: string, { name, type }: Argument, command: CommandDescription): unknown {
  switch (type) {
    case "number":
      if (text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
      break;
    case "integer":
      if (/^-?\d+$/.test(text)) return Number(text);
      break;
    case "boolean":
      if (/^(true|1)$/.test(text)) return true;
      if (/^(false|0)$/.test(text)) return false;
      break;
    case "string":
      return text;
    default:
      throw new Error(`The type "${type}" of "${name}" is not carried by the offline package.`);
  }
  throw fault(`"${text}" is not a valid ${type} for "${name}".`, command);
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function validationError(error: CommanderError, command: CommandDescription): ValidationError {
  const message = error.message.replace(/^error: /, "").replace("\n(", ". ").replace(/\)$/, "");
  return fault(message.charAt(0).toUpperCase() + message.slice(1), command, error);
}

function fault(message: string, command: CommandDescription, cause?: Error): ValidationError {
  const error = new ValidationError(message, { cause });
  error.cmd = command;
  return error;
}
