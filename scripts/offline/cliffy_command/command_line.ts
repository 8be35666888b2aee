import {
  Command as Commander,
  type CommanderError,
  Option as CommanderOption,
} from "npm:commander@^15.1.0";
import type { CommandDescription } from "./command_description.ts";
import { type Argument, type CommandResult, type Option, readArguments } from "./definition.ts";
import { ValidationError } from "./validation_error.ts";

/** One reading of a command line: what has been found so far. */
interface ParseState {
  seen: Set<string>;
  result?: Omit<CommandResult, "literal">;
}

/** Thrown by an option that stands alone, to leave the rest of the command line unread. */
class StandaloneOption extends Error {}

/** Finds the command that a command line names, with its options and arguments. */
export async function parseCommandLine(
  main: CommandDescription,
  args: string[],
): Promise<CommandResult> {
  const end = args.indexOf("--");
  const [read, literal] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];

  const reading: ParseState = { seen: new Set() };
  try {
    await createCommander(main, reading).parseAsync(read, { from: "user" });
  } catch (error) {
    if (!(error instanceof StandaloneOption)) throw error;
  }
  if (!reading.result) throw new Error(`No command was found in: ${args.join(" ")}`);
  return { ...reading.result, literal };
}

function createCommander(command: CommandDescription, reading: ParseState): Commander {
  const commander = new Commander(command.getName())
    .helpOption(false).helpCommand(false).enablePositionalOptions()
    .allowExcessArguments(false)
    // As in the original, what is not an option of a command with arguments is one of its arguments.
    .allowUnknownOption(command.getArguments().length > 0)
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
    .exitOverride((error) => {
      throw toValidationError(error, command);
    });
  for (const alias of command.getAliases()) commander.alias(alias);
  for (const argument of command.getArguments()) {
    commander.argument(formatArgument(argument), "", (text: string, previous: unknown) => {
      rejectSwitchValue(text, command);
      const value = parseValue(text, argument, command);
      return argument.variadic ? [...toArray(previous), value] : value;
    });
  }
  for (const option of command.getOptions(true)) addOption(commander, option, { command, reading });
  for (const child of command.getCommands(true)) {
    commander.addCommand(createCommander(child, reading));
  }
  commander.action(() => {
    reading.result = {
      cmd: command,
      options: collectOptions(commander),
      args: commander.processedArgs.flat().filter((value) => value !== undefined),
    };
  });
  return commander;
}

function addOption(
  commander: Commander,
  option: Option,
  { command, reading }: { command: CommandDescription; reading: ParseState },
): void {
  const [value] = readArguments(option.typeDefinition ?? "");
  const flags = value
    ? `${option.flags.join(", ")} ${formatArgument(value)}`
    : option.flags.join(", ");
  const target = new CommanderOption(flags).conflicts(option.conflicts ?? []);
  if (option.default !== undefined) target.default(option.default);
  if (option.required) target.makeOptionMandatory();
  if (value) {
    target.argParser((text: string, previous: unknown) => {
      const parsed = parseValue(text, value, command);
      return option.collect ? [...toArray(previous), parsed] : parsed;
    });
  }
  commander.addOption(target);
  commander.on(`option:${target.name()}`, () => {
    if (reading.seen.has(option.name) && !option.collect) {
      throw createValidationError(`Option "--${option.name}" can only come once.`, command);
    }
    reading.seen.add(option.name);
    if (!option.standalone) return;
    reading.result = { cmd: command, options: collectOptions(commander), args: [] };
    throw new StandaloneOption();
  });
}

/** `--print=yes` is no argument, as long as there is a `--print`. */
function rejectSwitchValue(text: string, command: CommandDescription): void {
  const option = command.getOptions(true).find(({ name }) => text.startsWith(`--${name}=`));
  if (option) throw createValidationError(`Option "--${option.name}" takes no value.`, command);
}

/** Options given anywhere on the way to this command, over the defaults of the command itself. */
function collectOptions(commander: Commander): Record<string, unknown> {
  const options = commander.opts();
  for (let above = commander.parent; above; above = above.parent) {
    for (const [name, value] of Object.entries(above.opts())) {
      if (above.getOptionValueSource(name) === "cli") options[name] = value;
    }
  }
  return options;
}

function formatArgument({ name, optional, variadic }: Argument): string {
  const text = variadic ? `${name}...` : name;
  return optional ? `[${text}]` : `<${text}>`;
}

function parseValue(text: string, argument: Argument, command: CommandDescription): unknown {
  if (!argument.list) return parseScalar(text, argument, command);
  return text.split(",").map((item) => parseScalar(item, argument, command));
}

function parseScalar(text: string, { name, type }: Argument, command: CommandDescription): unknown {
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
  throw createValidationError(`"${text}" is not a valid ${type} for "${name}".`, command);
}

function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function toValidationError(error: CommanderError, command: CommandDescription): ValidationError {
  const message = error.message.replace(/^error: /, "").replace("\n(", ". ").replace(/\)$/, "");
  return createValidationError(message.charAt(0).toUpperCase() + message.slice(1), command, error);
}

function createValidationError(
  message: string,
  command: CommandDescription,
  cause?: Error,
): ValidationError {
  const error = new ValidationError(message, { cause });
  error.cmd = command;
  return error;
}
