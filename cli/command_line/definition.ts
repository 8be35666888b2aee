/**
 * Definitions of commands as data, from which parser, help, completions, usage errors and documentation are generated.
 *
 * @module
 */

import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";

/** The configuration that may set an option: any file, or only that of the user, because a project must not extend rights. */
export type ConfigScope = "any" | "user";

/** An option. Its key in {@linkcode OptionDefinitions} is its name in camelCase: `maxTurns` is `--max-turns`. */
export interface OptionDefinition {
  /** The letter of the short flag: `m` for `-m`. */
  readonly short?: string;
  /** Type of the value; a boolean option has none. `file` and `directory` are completed as paths. */
  readonly type: "boolean" | "string" | "integer" | "number" | "file" | "directory";
  /** Name of the value in help texts: `model` for `--model <model>`. */
  readonly value?: string;
  /** Whether the value may be missing; it is `true` then. A value with blanks belongs to the arguments. */
  readonly optionalValue?: boolean;
  /** Effect of the option, in one sentence. */
  readonly description: string;
  /** The only valid values. */
  readonly choices?: readonly string[];
  /** Some valid values, which completions offer. */
  readonly suggestions?: readonly string[];
  /** The smallest valid number. */
  readonly minimum?: number;
  /** Value when the option is missing. */
  readonly default?: string | number | readonly string[];
  /** Whether the option may occur several times; its value is an array then. */
  readonly repeatable?: boolean;
  /** Whether help, completions and documentation leave the option out. */
  readonly hidden?: boolean;
  /** Arguments of the program with which it prints values that completions offer: the first column of each line. */
  readonly completer?: string;
  /** The configuration that may set the option. Default: none. */
  readonly configuration?: ConfigScope;
  /** Other flags for the option, which only work and are not shown: those of other programs. */
  readonly aliases?: readonly string[];
  /** Flags of other programs, and the arguments that errors suggest for them. */
  readonly synonyms?: Readonly<Record<string, string>>;
  /** Names (keys) of options that cannot be combined with this one. */
  readonly conflicts?: readonly string[];
  /** Whether the rest of the command line is ignored when the option occurs. */
  readonly standalone?: boolean;
}

/** The options of a command, by name in camelCase. */
export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>;

/** A positional argument. */
export interface ArgumentDefinition {
  /** Name in help texts. */
  readonly name: string;
  /** Meaning of the argument. */
  readonly description: string;
  /** The only valid values. */
  readonly choices?: readonly string[];
  /** Some valid values, which completions offer. */
  readonly suggestions?: readonly string[];
  /** Arguments of the program with which it prints values that completions offer: the first column of each line. */
  readonly completer?: string;
  /** Whether completions offer paths of files. */
  readonly isFile?: boolean;
  /** Whether it may be missing. */
  readonly optional?: boolean;
  /** Whether it takes all following arguments. */
  readonly variadic?: boolean;
}

/** An example or an environment variable, and a short explanation. */
export type ExplainedTerm = readonly [term: string, explanation: string];

/** The value of an option; `undefined` when it is missing and has no default. */
export type OptionValue = string | number | boolean | readonly string[] | undefined;

type ParsedValue<Option> = Option extends { readonly choices: readonly (infer Choice)[] } ? Choice
  : Option extends { readonly type: "integer" | "number" } ? number
  : Option extends { readonly type: "boolean" } ? boolean
  : string;

type ParsedOption<Option> = Option extends
  { readonly default: unknown } | { readonly type: "boolean" } ? ParsedValue<Option>
  :
    | (Option extends { readonly repeatable: true } ? readonly string[] : ParsedValue<Option>)
    | (Option extends { readonly optionalValue: true } ? true : never)
    | undefined;

/** The values of options, by name in camelCase. A missing boolean option is `false`. */
export type OptionValues<Options extends OptionDefinitions = OptionDefinitions> = string extends
  keyof Options ? Readonly<Record<string, OptionValue>>
  : { readonly [Name in keyof Options]: ParsedOption<Options[Name]> };

/** The options of a command line. */
export interface GivenOptions<Values> {
  /** Values of the command's options, with defaults. */
  readonly options: Values;
  /** Names of the options that occur on the command line. */
  readonly given: ReadonlySet<string>;
}

/** A parsed command line, as an action receives it. */
export interface Invocation<Options extends OptionDefinitions = OptionDefinitions>
  extends GivenOptions<OptionValues<Options>> {
  /** Positional arguments, including those after `--`. */
  readonly arguments: readonly string[];
  /** The top-level command. */
  readonly program: CommandDefinition;
}

/** A command. */
export interface CommandDefinition<Options extends OptionDefinitions = OptionDefinitions> {
  /** Name on the command line. */
  readonly name: string;
  /** One sentence for the list of commands. */
  readonly summary: string;
  /** Further sentences for the command's own help. */
  readonly details?: string;
  /** Positional arguments. With subcommands, too, a word that is no subcommand is an argument. */
  readonly arguments?: readonly ArgumentDefinition[];
  /** Options, in the order of the help. */
  readonly options?: Options;
  /** Subcommands, in the order of the help. */
  readonly commands?: readonly CommandDefinition[];
  /** Name of the subcommand that a command line without a subcommand is for: `swink -c` is `swink chat -c`. */
  readonly defaultCommand?: string;
  /** Options that select a subcommand when they occur before any command: `swink -p` is `swink run -p`. */
  readonly shorthands?: Readonly<Record<string, string>>;
  /** Names that other programs have for subcommands and options, and the arguments that errors suggest for them. */
  readonly synonyms?: Readonly<Record<string, string>>;
  /** Examples of complete command lines. */
  readonly examples?: readonly ExplainedTerm[];
  /** Environment variables that the command reads. */
  readonly environment?: readonly ExplainedTerm[];
  /** Exit codes that the command may end with. */
  readonly exitCodes?: readonly ExitCode[];
  /** Starts to import the modules that the action needs; called before the command line is parsed. */
  readonly preload?: () => Promise<unknown>;
  /**
   * Runs the command; imports the modules it needs. The help of the command is printed when there is no action, or when
   * it resolves to `undefined`.
   */
  action?(invocation: Invocation<Options>, host: Host): Promise<ExitCode | undefined>;
}

/** A command with the names above it, such as `swink sessions list`. */
export interface CommandPath {
  /** The command. */
  readonly command: CommandDefinition;
  /** Its name, after those of the commands above it. */
  readonly path: string;
}

/** The help option, which every command has. */
const HELP_OPTION = {
  short: "h",
  type: "boolean",
  description: "Shows help for a command.",
  standalone: true,
} as const satisfies OptionDefinition;

/** Checks a definition and infers the types of its options. */
export function defineCommand<const Options extends OptionDefinitions>(
  definition: CommandDefinition<Options>,
): CommandDefinition {
  return definition as CommandDefinition;
}

/** An option with its name and flags. */
export interface NamedOption extends OptionDefinition {
  /** Name in camelCase. */
  readonly name: string;
  /** As typed, the short one first: `-m`, `--model`. */
  readonly flags: readonly string[];
}

/** Returns all options of a command, `--help` last. */
export function getOptions({ options = {} }: CommandDefinition): NamedOption[] {
  return Object.entries<OptionDefinition>({ ...options, help: HELP_OPTION }).map((
    [name, option],
  ) => ({
    ...option,
    name,
    flags: [...(option.short === undefined ? [] : [`-${option.short}`]), toFlag(name)],
  }));
}

/** Returns the options of a command that help and completions show, `--help` last. */
export function getVisibleOptions(command: CommandDefinition): NamedOption[] {
  return getOptions(command).filter(({ hidden }) => !hidden);
}

/** Formats the value of an option, such as `<model>`, or `[id]` if it may be missing; empty for a boolean option. */
export function formatValue({ type, value = type, optionalValue }: OptionDefinition): string {
  if (type === "boolean") return "";
  return optionalValue ? `[${value}]` : `<${value}>`;
}

/** Converts the name of an option to its flag: `maxTurns` becomes `--max-turns`. */
export function toFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
