/**
 * A command as help, completions and usage errors see it: what they ask a command of `@cliffy/command`.
 *
 * @module
 */

/** An option of a command. */
export interface OptionShape {
  /** Without dashes: `max-turns`. */
  readonly name: string;
  /** As typed: `-m`, `--model`. */
  readonly flags: readonly string[];
  /** `<model:string>`; empty or missing for a switch. */
  readonly typeDefinition?: string | undefined;
  /** What it does. */
  readonly description: string;
  /** Whether nothing else of the command line matters beside it. */
  readonly standalone?: boolean | undefined;
  /** Whether it may come several times. */
  readonly collect?: boolean | undefined;
}

/** A positional argument. */
export interface ArgumentShape {
  /** Its name. */
  readonly name: string;
  /** Whether it may be missing. */
  readonly optional?: boolean | undefined;
  /** Whether it takes all that follows. */
  readonly variadic?: boolean | undefined;
}

/** A command of the tree. */
export interface CommandShape {
  getName(): string;
  getPath(): string;
  getDescription(): string;
  getAliases(): readonly string[];
  getExamples(): readonly { readonly name: string; readonly description: string }[];
  getArguments(): readonly ArgumentShape[];
  getOptions(hidden?: boolean): readonly OptionShape[];
  getCommands(hidden?: boolean): readonly CommandShape[];
  getCommand(name: string, hidden?: boolean): CommandShape | undefined;
}

/** The value of an option: its name and its type; `undefined` for a switch. */
export function parseOptionValue(
  { typeDefinition = "" }: OptionShape,
): { readonly name: string; readonly type: string } | undefined {
  const [, name, type = "string"] = typeDefinition.match(/^[<[]([\w-]+)(?::(\w+))?/) ?? [];
  return name === undefined ? undefined : { name, type };
}
