/**
 * The keys of the configuration: options of `swink run` that a file, a variable or `--config` can set.
 *
 * @module
 */

import {
  type ConfigScope,
  type OptionDefinition,
  type OptionDefinitions,
  toFlag,
} from "../command_line/definition.ts";
import { RUN_OPTIONS } from "../settings/run_options.ts";

/** A key of the configuration. */
export interface ConfigKey extends OptionDefinition {
  /** Name in files: `max_turns`. */
  readonly key: string;
  /** Name of the option in camelCase. */
  readonly option: string;
  /** The environment variable: `SWINK_MAX_TURNS`. */
  readonly variable: string;
  /** The files that may set the key. */
  readonly scope: ConfigScope;
}

/** All keys, in the order of the options. */
export const CONFIG_KEYS: readonly ConfigKey[] = listConfigKeys(RUN_OPTIONS);

function listConfigKeys(options: OptionDefinitions): ConfigKey[] {
  return Object.entries(options).flatMap(([option, definition]) => {
    const { configuration: scope } = definition;
    if (scope === undefined) return [];
    const key = toFlag(option).slice(2).replaceAll("-", "_");
    return [{ ...definition, key, option, variable: `SWINK_${key.toUpperCase()}`, scope }];
  });
}

/** Finds a key by its name. */
export function findConfigKey(name: string): ConfigKey | undefined {
  return CONFIG_KEYS.find(({ key }) => key === name);
}
