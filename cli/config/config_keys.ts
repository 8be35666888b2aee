/**
 * The keys of the configuration: options of `swink run` and `swink chat` that a file, a variable or `--config` can set,
 * and keys of tables such as `providers.openai.base_url` and `keys.submit`.
 *
 * @module
 */

import {
  type ConfigScope,
  type OptionDefinition,
  type OptionDefinitions,
  toFlag,
} from "../command_line/definition.ts";
import { KEY_SETTINGS } from "../settings/key_actions.ts";
import { PROVIDER_SETTINGS } from "../settings/provider_settings.ts";
import { CONVERSATION_OPTIONS } from "../settings/chat_options.ts";
import { RUN_OPTIONS } from "../settings/run_options.ts";

/** A key of the configuration. */
export interface ConfigKey extends OptionDefinition {
  /** Name in files: `max_turns`, or `base_url` in a table. */
  readonly key: string;
  /** The files that may set the key. */
  readonly scope: ConfigScope;
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

/** Tables of tables: `[providers.openai]` has the keys of `providers`. */
export const CONFIG_TABLES: Readonly<Record<string, readonly ConfigKey[]>> = {
  providers: listConfigKeys(PROVIDER_SETTINGS),
};

/** Tables: `[keys]` has the keys of `keys`. */
export const CONFIG_SECTIONS: Readonly<Record<string, readonly ConfigKey[]>> = {
  keys: listConfigKeys(KEY_SETTINGS),
};

function listConfigKeys(options: OptionDefinitions): OptionKey[] {
  return Object.entries(options).flatMap(([option, definition]) => {
    const { configuration: scope } = definition;
    if (scope === undefined) return [];
    const key = toFlag(option).slice(2).replaceAll("-", "_");
    return [{ ...definition, key, option, variable: `SWINK_${key.toUpperCase()}`, scope }];
  });
}

/** Finds a key by its full name: `max_turns`, `keys.submit`, or `providers.openai.base_url`. */
export function findConfigKey(name: string): ConfigKey | undefined {
  const parts = name.split(".");
  if (parts.length === 1) return CONFIG_KEYS.find(({ key }) => key === name);
  const [table = "", entry = "", last] = parts;
  if (parts.length === 2) {
    const keys = Object.hasOwn(CONFIG_SECTIONS, table) ? CONFIG_SECTIONS[table] : undefined;
    return keys?.find(({ key }) => key === entry);
  }
  if (parts.length !== 3 || !TABLE_NAME.test(entry) || !Object.hasOwn(CONFIG_TABLES, table)) {
    return undefined;
  }
  return CONFIG_TABLES[table]?.find(({ key }) => key === last);
}

/** A name that needs no quotes in TOML. */
const TABLE_NAME = /^[\w-]+$/;
