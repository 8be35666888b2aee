import type { CommandDescription } from "./command_description.ts";

/** What an option may be told beside its flags. */
export interface OptionOptions {
  default?: unknown;
  required?: boolean;
  hidden?: boolean;
  /** The option may come several times; its values become an array. */
  collect?: boolean;
  /** The option stands alone: nothing else of the command line is checked. */
  standalone?: boolean;
  /** Names of options that cannot come with this one. */
  conflicts?: string[];
}

/** A declared option, as `getOptions()` tells it. */
export interface Option extends OptionOptions {
  /** Without dashes: `max-turns`. */
  name: string;
  /** As typed: `["-m", "--model"]`. */
  flags: string[];
  /** `<model:string>`; empty for a switch. */
  typeDefinition?: string;
  description: string;
  global: boolean;
}

/** The value of an option, or a positional argument. */
export interface Argument {
  name: string;
  type: string;
  optional: boolean;
  variadic: boolean;
  /** A comma-separated list. */
  list: boolean;
}

/** What a parsed command line says. */
export interface CommandResult {
  options: Record<string, unknown>;
  args: unknown[];
  /** What stood behind `--`. */
  literal: string[];
  cmd: CommandDescription;
}

/** Reads `-m, --model <model:string>` and its kin. */
export function readOption(
  flags: string,
  description: string,
  options: OptionOptions & { global: boolean },
): Option {
  const typeDefinition = flags.match(/[<[].*$/)?.[0] ?? "";
  const names = flags.replace(/[<[].*$/, "").split(/[\s,]+/).filter((flag) => flag !== "");
  const longest = names.findLast((flag) => flag.startsWith("--")) ?? names[0] ?? "";
  return {
    ...options,
    name: longest.replace(/^-+/, ""),
    flags: names,
    description,
    typeDefinition,
  };
}

/** Reads `<file:string> [rest...:string]`. */
export function readArguments(definition: string): Argument[] {
  const places = definition.matchAll(/([<[])([\w-]+)(\.\.\.)?(?::(\w+)(\[\])?)?[>\]]/g);
  return [...places].map(([, bracket, name = "", dots, type = "string", list]) => ({
    name,
    type,
    optional: bracket === "[",
    variadic: dots !== undefined,
    list: list !== undefined,
  }));
}
