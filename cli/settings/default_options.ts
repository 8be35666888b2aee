/**
 * The options of a command without any on the command line.
 *
 * @module
 */

import type { OptionDefinitions, OptionValues } from "../command_line/definition.ts";

/** Returns the default of each option; `false` for a boolean one. */
export function createDefaultOptions<const Options extends OptionDefinitions>(
  definitions: Options,
): OptionValues<Options> {
  const entries = Object.entries(definitions).map(([name, { type, default: value }]) => [
    name,
    type === "boolean" ? false : value,
  ]);
  return Object.fromEntries(entries) as OptionValues<Options>;
}
