/**
 * Parses a configuration file in TOML.
 *
 * @module
 */

import { parse, TomlError } from "smol-toml";
import { didYouMean } from "../command_line/suggestion.ts";
import { checkConfigValue } from "./check_config_value.ts";
import { parseHooks } from "../hooks/parse_hooks.ts";
import { CONFIG_KEYS } from "./config_keys.ts";
import { findConfigKey, findConfigTable, listTableKeys } from "./config_tables.ts";
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

type Entry = readonly [name: string, value: unknown];

/** Converts a known table to entries with full names, such as `keys.submit` and `providers.openai.base_url`. */
function flatten([name, value]: Entry): Entry[] {
  const table = findConfigTable(name);
  if (!table || !isTable(value)) return [[name, value]];
  const entries = addPrefix(name, value);
  if (table.type === "keys") return entries;
  return entries.flatMap(([entry, keys]) =>
    isTable(keys) ? addPrefix(entry, keys) : [[entry, keys]]
  );
}

function addPrefix(prefix: string, table: Readonly<Record<string, unknown>>): Entry[] {
  return Object.entries(table).map(([key, value]) => [`${prefix}.${key}`, value]);
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
  const expected = describeTable(name);
  if (!definition && expected !== undefined && !isTable(value)) {
    return { type: "error", message: `${name} must be a table: write [${expected}]` };
  }
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

/** Returns the name of the table to write if a name is that of a table. */
function describeTable(name: string): string | undefined {
  const [first = "", entry, ...others] = name.split(".");
  const table = findConfigTable(first);
  if (table?.type === "tables") {
    return others.length > 0 ? undefined : `${first}.${entry ?? "NAME"}`;
  }
  return table && entry === undefined ? first : undefined;
}

/** Suggests the key that is meant by a misspelt name, or by the name of an option: `maxTurns`, `max-turns`. */
export function suggestKey(name: string): string {
  const normalized = name.replace(/[A-Z]/g, (letter) => `_${letter}`).replaceAll("-", "_");
  const [table = "", entry = ""] = name.split(".");
  const keys = [...CONFIG_KEYS.map(({ key }) => key), ...listTableKeys(table, entry)];
  return didYouMean(normalized.toLowerCase(), keys);
}

/** Finds the line, from 1, on which a key begins: in its table, or with its full name. Else that of the table. */
function findLine(text: string, name: string): number | undefined {
  let table = "";
  let tableLine: number | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const [, bracket = "", word = ""] = /^\s*(\[{0,2})\s*([\w.-]+)/.exec(line) ?? [];
    if (bracket !== "") table = word;
    const path = bracket !== "" || table === "" ? word : `${table}.${word}`;
    if (word === "" || !isPrefix(path, name)) continue;
    if (path === name || path.startsWith(`${name}.`)) return index + 1;
    tableLine ??= index + 1;
  }
  return tableLine;
}

/** Whether one of two full names is the beginning of the other. */
function isPrefix(a: string, b: string): boolean {
  return `${a}.`.startsWith(`${b}.`) || `${b}.`.startsWith(`${a}.`);
}

function toSyntaxProblem(error: unknown, origin: FileOrigin): ConfigProblem {
  if (!(error instanceof TomlError)) throw error;
  // The first line of the message is the reason, the others show the place in the text.
  const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
  const message = `Invalid TOML: ${reason}`;
  return { type: "error", origin, line: error.line, message };
}
