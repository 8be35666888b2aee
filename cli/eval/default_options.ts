/**
 * The options of `swink eval run` without any on the command line.
 *
 * @module
 */

import { EVAL_RUN_OPTIONS, type EvalRunOptions } from "../settings/eval_options.ts";
import { listDefaults } from "../settings/list_defaults.ts";

/** Returns the default of each option. */
export function createDefaultOptions(): EvalRunOptions {
  return Object.fromEntries(listDefaults(EVAL_RUN_OPTIONS)) as EvalRunOptions;
}
