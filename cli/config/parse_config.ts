/**
 * Parses a configuration file in TOML.
 *
 * @module
 */

import { parse, TomlError } from "smol-toml";
import { dirname } from "../../src/platform/paths.ts";
import { didYouMean } from "../command_line/suggestion.ts";
import type { Hook } from "../hooks/hook.ts";
import { isTable, parseHooks } from "../hooks/parse_hooks.ts";
import { checkConfigValue } from "./check_config_value.ts";
import { CONFIG_KEYS } from "./config_keys.ts";
import { findConfigKey, findConfigTable, listTableKeys } from "./config_tables.ts";
import type { ConfigLayer, ConfigOrigin, ConfigProblem, ConfigSetting } from "./config_value.ts";

/** The source of a configuration file. */
export type FileOrigin = Extract<ConfigOrigin, { readonly file: string }>;

/** Parses the text of a configuration file. Never throws: a syntax error is a problem. */
export function parseConfig(text: string, origin: FileOrigin): ConfigLayer {
  try {
    return checkConfig(parse(text), { lines: indexLines(text), origin });
  } catch (error) {
    return { settings: [], problems: [toSyntaxProblem(error, origin)] };
  }
}

/** The lines of the keys of a file, and its source. */
interface ConfigFile {
  readonly lines: ReadonlyMap<string, number>;
  readonly origin: FileOrigin;
}

function checkConfig(table: Readonly<Record<string, unknown>>, file: ConfigFile): ConfigLayer {
  const settings: ConfigSetting[] = [];
  const problems: ConfigProblem[] = [];
  const { hooks: hookTable, ...keys } = table;
  const { hooks, problems: hookProblems } = parseHooks(hookTable ?? {});
  for (const problem of hookProblems) {
    problems.push({ ...problem, origin: file.origin, line: findLine(file.lines, "hooks") });
  }
  for (const [name, value] of Object.entries(keys).flatMap(flatten)) {
    const entry = checkEntry(name, value, file.origin);
    if ("key" in entry) settings.push(entry);
    else {
      problems.push({ ...entry, key: name, origin: file.origin, line: findLine(file.lines, name) });
    }
  }
  return { settings, hooks: hooks.map((hook) => placeHook(hook, file.origin)), problems };
}

/** Lets a hook of a project run in its root, so that relative paths in its command are valid from every directory below. */
function placeHook(hook: Hook, { type, file }: FileOrigin): Hook {
  return type === "project" ? { ...hook, directory: dirname(dirname(file)) } : hook;
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

/** Returns the first line, from 1, of each key and table of a file, and of the tables that they are in. */
function indexLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  let table = "";
  for (const [index, line] of text.split("\n").entries()) {
    const [, bracket = "", word = ""] = /^\s*(\[{0,2})\s*([\w.-]+)/.exec(line) ?? [];
    if (word === "") continue;
    if (bracket !== "") table = word;
    const path = bracket !== "" || table === "" ? word : `${table}.${word}`;
    for (const name of [path, ...listParents(path)]) {
      if (!lines.has(name)) lines.set(name, index + 1);
    }
  }
  return lines;
}

/** Finds the line of a key, or else of the table that it is in. */
function findLine(lines: ReadonlyMap<string, number>, name: string): number | undefined {
  return [name, ...listParents(name)].map((part) => lines.get(part))
    .find((line) => line !== undefined);
}

/** Returns the names of the tables that a full name is in, the innermost first. */
function listParents(name: string): string[] {
  const parts = name.split(".").slice(0, MAX_DEPTH);
  return parts.slice(1).map((_, index) => parts.slice(0, parts.length - 1 - index).join("."));
}

/** Maximum number of parts of a name whose tables are indexed; no key of the configuration has more. */
const MAX_DEPTH = 4;

/** Advice by the reason of a syntax error. */
const SYNTAX_ADVICE: readonly (readonly [RegExp, string])[] = [
  [/escape/, "single quotes keep backslashes as they are"], // Such as in "C:\Users".
  [/control characters/, "is a closing quote missing?"],
  [/^invalid value$/, "texts need quotes"],
];

function toSyntaxProblem(error: unknown, origin: FileOrigin): ConfigProblem {
  if (!(error instanceof TomlError)) throw error;
  // The first line of the message is the reason, the others show the place in the text.
  const [reason = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
  const advice = SYNTAX_ADVICE.find(([pattern]) => pattern.test(reason))?.[1];
  const message = `Invalid TOML: ${reason}${advice ? ` (${advice})` : ""}`;
  return { type: "error", origin, line: error.line, message };
}
