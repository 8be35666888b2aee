/**
 * Parses a configuration file in TOML.
 *
 * @module
 */

import { parse, TomlError } from "smol-toml";
import { didYouMean } from "../command_line/suggestion.ts";
import { checkConfigValue } from "./check_config_value.ts";
import { parseHooks } from "../hooks/parse_hooks.ts";
import { CONFIG_KEYS, CONFIG_SECTIONS, CONFIG_TABLES, findConfigKey } from "./config_keys.ts";
import type { ConfigLayer, ConfigOrigin, ConfigProblem, ConfigSetting } from "./config_value.ts";

/** The source of a configuration file. */
export type FileOrigin = Extract<ConfigOrigin, { readonly file: string }>;

/** Parses the text of a configuration file. Never throws: a syntax error is a problem. */
export function parseConfig(text: string, origin: FileOrigin): ConfigLayer {
  try {
    return checkConfig(parse(text), { text, origin });
  } catch (error) {
    return { settings: [], problems: [toSyntaxProblem(error, origin)] };
  }
}

/** The text of a file, for the lines of its keys, and its source. */
interface ConfigFile {
  readonly text: string;
  readonly origin: FileOrigin;
}

function checkConfig(table: Readonly<Record<string, unknown>>, file: ConfigFile): ConfigLayer {
  const settings: ConfigSetting[] = [];
  const problems: ConfigProblem[] = [];
  const { hooks: hookTable, ...keys } = table;
  const { hooks, problems: hookProblems } = parseHooks(hookTable ?? {});
  for (const problem of hookProblems) {
    problems.push({ ...problem, origin: file.origin, line: findLine(file.text, "hooks") });
  }
  for (const [name, value] of Object.entries(keys).flatMap(flatten)) {
    const entry = checkEntry(name, value, file.origin);
    if ("key" in entry) settings.push(entry);
    else problems.push({ ...entry, origin: file.origin, line: findLine(file.text, name) });
  }
  return { settings, hooks, problems };
}

/** Converts a known table to entries with full names, such as `keys.submit` and `providers.openai.base_url`. */
function flatten([name, value]: readonly [string, unknown]): (readonly [string, unknown])[] {
  if (Object.hasOwn(CONFIG_SECTIONS, name) && isTable(value)) {
    return Object.entries(value).map(([key, item]) => [`${name}.${key}`, item]);
  }
  if (!Object.hasOwn(CONFIG_TABLES, name) || !isTable(value)) return [[name, value]];
  return Object.entries(value).flatMap(([entry, keys]) => {
    if (!isTable(keys)) return [[`${name}.${entry}`, keys] as const];
    return Object.entries(keys).map(([key, item]) => [`${name}.${entry}.${key}`, item] as const);
  });
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !(value instanceof Date);
}

/** Checks a key and its value. A key of a later version, or one that the file must not set, is ignored with a warning. */
function checkEntry(
  name: string,
  value: unknown,
  origin: FileOrigin,
): ConfigSetting | Pick<ConfigProblem, "type" | "message"> {
  const definition = findConfigKey(name);
  if (!definition) {
    const message = `Unknown key ${JSON.stringify(name)}${suggestKey(name)}`;
    return { type: "warning", message };
  }
  if (origin.type === "project" && definition.scope === "user") {
    const message =
      `${name} cannot be set by a project; set it in your own configuration or on the command line`;
    return { type: "warning", message };
  }
  const checked = checkConfigValue(definition, value);
  if (checked.type === "invalid") return { type: "error", message: checked.message };
  return { key: name, value: checked.value, origin };
}

/** Suggests the key that is meant by a misspelt name, or by the name of an option: `maxTurns`, `max-turns`. */
export function suggestKey(name: string): string {
  const normalized = name.replace(/[A-Z]/g, (letter) => `_${letter}`).replaceAll("-", "_");
  const keys = [...CONFIG_KEYS.map(({ key }) => key), ...listTableKeys(name)];
  return didYouMean(normalized.toLowerCase(), keys);
}

/** Returns the full names of the keys of the table that a full name belongs to. */
function listTableKeys(name: string): string[] {
  const [table = "", entry = ""] = name.split(".");
  if (Object.hasOwn(CONFIG_SECTIONS, table)) {
    return CONFIG_SECTIONS[table]?.map(({ key }) => `${table}.${key}`) ?? [];
  }
  if (!Object.hasOwn(CONFIG_TABLES, table)) return [];
  return CONFIG_TABLES[table]?.map(({ key }) => `${table}.${entry}.${key}`) ?? [];
}

/** Finds the line, from 1, on which a key begins, or the table that has the key. */
function findLine(text: string, name: string): number | undefined {
  const [first = "", entry] = name.split(".");
  const hasEntries = entry !== undefined && Object.hasOwn(CONFIG_TABLES, first);
  const table = hasEntries ? `${first}.${entry}` : first;
  const index = text.split("\n").findIndex((line) => {
    const [, word = ""] = /^\s*\[{0,2}\s*([\w.-]+)/.exec(line) ?? [];
    return word === table || word.startsWith(`${table}.`);
  });
  return index < 0 ? undefined : index + 1;
}

function toSyntaxProblem(error: unknown, origin: FileOrigin): ConfigProblem {
  if (!(error instanceof TomlError)) throw error;
  // The first line of the message is the reason, the others show the place in the text.
  const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
  const message = `Invalid TOML: ${reason}`;
  return { type: "error", origin, line: error.line, message };
}
