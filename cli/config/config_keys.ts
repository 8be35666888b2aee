/**
 * The keys of the configuration that are options of `swink run` or `swink chat`, which a file, a variable or `--config`
 * can set.
 *
 * @module
 */

import {
  type ConfigScope,
  type OptionDefinition,
  type OptionDefinitions,
  toFlag,
} from "../command_line/definition.ts";
import { CONVERSATION_OPTIONS } from "../settings/chat_options.ts";
import { RUN_OPTIONS } from "../settings/run_options.ts";
import type { CheckedConfigValue } from "./config_value.ts";

/** A key of the configuration. */
export interface ConfigKey extends OptionDefinition {
  /** Name in files: `max_turns`, or `base_url` in a table. */
  readonly key: string;
  /** The files that may set the key. */
  readonly scope: ConfigScope;
  /** Pattern of a text, or of the texts of a list, for editors. Default: none. */
  readonly pattern?: string;
  /** Checks a text, and returns its value. Default: any text is valid. */
  readonly parseText?: (key: string, text: string) => CheckedConfigValue;
  /** Checks a list of texts, and returns its value. Default: any list is valid. */
  readonly parse?: (key: string, texts: readonly string[]) => CheckedConfigValue;
}

/** A key of the top level. */
export interface OptionKey extends ConfigKey {
  /** Name of the option in camelCase. */
  readonly option: string;
  /** The environment variable: `SWINK_MAX_TURNS`. */
  readonly variable: string;
}

/** The keys of the top level, in the order of the options. */
export const CONFIG_KEYS: readonly OptionKey[] = listConfigKeys({
  ...RUN_OPTIONS,
  ...CONVERSATION_OPTIONS,
});

/** Returns the keys of options that a configuration may set. */
export function listConfigKeys(options: OptionDefinitions): OptionKey[] {
  return Object.entries(options).flatMap(([option, definition]) => {
    const { configuration: scope } = definition;
    if (scope === undefined) return [];
    const key = toFlag(option).slice(2).replaceAll("-", "_");
    return [{ ...definition, key, option, variable: `SWINK_${key.toUpperCase()}`, scope }];
  });
}
