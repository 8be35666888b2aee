/**
 * The options of a command without any on the command line.
 *
 * @module
 */

import type { OptionDefinitions, OptionValue } from "../command_line/definition.ts";

/** Returns the name of each option with its default; `false` for a boolean one. */
export function listDefaults(options: OptionDefinitions): [name: string, value: OptionValue][] {
  return Object.entries(options).map(([name, { type, default: value }]) => [
    name,
    type === "boolean" ? false : value,
  ]);
}
