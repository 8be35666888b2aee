/**
 * The tables of the configuration, such as `[keys]` and `[providers.openai]`, and all of its keys by their full names.
 *
 * @module
 */

import { KEY_ACTIONS } from "../settings/key_actions.ts";
import { PROVIDER_SETTINGS } from "../settings/provider_settings.ts";
import { CONFIG_KEYS, type ConfigKey, listConfigKeys } from "./config_keys.ts";
import type { CheckedConfigValue } from "./config_value.ts";
import { KEY_NAME_PATTERN, parseKeyName } from "./key_name.ts";

/** A table. */
export interface ConfigTable {
  /** Whether it has the keys, or tables that have them: `[providers.openai]`. */
  readonly type: "keys" | "tables";
  /** The keys. */
  readonly keys: readonly ConfigKey[];
}

/** The tables by name. */
export const CONFIG_TABLES: Readonly<Record<string, ConfigTable>> = {
  providers: {
    type: "tables",
    keys: listConfigKeys(PROVIDER_SETTINGS).map((key) =>
      key.key === "base_url" ? { ...key, pattern: "^https?://", parseText: parseUrl } : key
    ),
  },
  keys: {
    type: "keys",
    keys: listConfigKeys(KEY_ACTIONS).map((key) => ({
      ...key,
      pattern: KEY_NAME_PATTERN,
      parse: parseKeyNames,
    })),
  },
};

/** Finds a table by its name. */
export function findConfigTable(name: string): ConfigTable | undefined {
  return Object.hasOwn(CONFIG_TABLES, name) ? CONFIG_TABLES[name] : undefined;
}

/** Returns the full names of the keys of a table; `entry` is the table in it that has them, if it has tables. */
export function listTableKeys(name: string, entry: string): string[] {
  const { type, keys = [] } = findConfigTable(name) ?? {};
  const prefix = type === "tables" ? `${name}.${entry}` : name;
  return keys.map(({ key }) => `${prefix}.${key}`);
}

/** Finds a key by its full name, which it gets: `max_turns`, `keys.submit` or `providers.openai.base_url`. */
export function findConfigKey(name: string): ConfigKey | undefined {
  const [first = "", ...others] = name.split(".");
  if (others.length === 0) return CONFIG_KEYS.find(({ key }) => key === name);
  const table = findConfigTable(first);
  if (table?.type === "tables" && !TABLE_NAME.test(others.shift() ?? "")) return undefined;
  const definition = table?.keys.find(({ key }) => key === others[0]);
  return definition && others.length === 1 ? { ...definition, key: name } : undefined;
}

/** A name that needs no quotes in TOML. */
const TABLE_NAME = /^[\w-]+$/;

/** Parses the URL of a server. The message does not repeat it, since it may have a password. */
function parseUrl(key: string, text: string): CheckedConfigValue {
  const { protocol = "" } = URL.parse(text) ?? {};
  if (/^https?:$/.test(protocol)) return { type: "valid", value: text };
  return { type: "invalid", message: `${key} must be a URL such as https://host/path` };
}

/** Parses the names of keys of a keyboard; a text may have several, separated by commas or blanks. */
function parseKeyNames(key: string, texts: readonly string[]): CheckedConfigValue {
  const names: string[] = [];
  // The key of a comma is behind a plus sign.
  for (const text of texts.flatMap((list) => list.split(/(?<!\+),|\s+/))) {
    if (text === "") continue;
    const parsed = parseKeyName(text);
    if (parsed.type === "invalid") {
      return { type: "invalid", message: `${key}: ${JSON.stringify(text)} ${parsed.reason}` };
    }
    names.push(parsed.name);
  }
  return { type: "valid", value: [...new Set(names)] };
}
