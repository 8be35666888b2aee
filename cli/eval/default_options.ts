/**
 * The options of `swink eval run` without any on the command line.
 *
 * @module
 */

import type { OptionDefinitions, OptionValue } from "../command_line/definition.ts";
import { EVAL_RUN_OPTIONS, type EvalRunOptions } from "../settings/eval_options.ts";

/** Returns the default of each option. */
export function createDefaultOptions(): EvalRunOptions {
  return Object.fromEntries(listDefaults(EVAL_RUN_OPTIONS)) as EvalRunOptions;
}

/** Returns the name of each option with its default; `false` for a boolean one. */
export function listDefaults(options: OptionDefinitions): [name: string, value: OptionValue][] {
  return Object.entries(options).map(([name, { type, default: value }]) => [
    name,
    type === "boolean" ? false : value,
  ]);
}
