/**
 * Parses a configuration file in TOML.
 *
 * @module
 */

import { parse, TomlError } from "smol-toml";
import { didYouMean } from "../command_line/suggestion.ts";
import { checkConfigValue } from "./check_config_value.ts";
import { CONFIG_KEYS, type ConfigKey, findConfigKey } from "./config_keys.ts";
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
  for (const [name, value] of Object.entries(table)) {
    const entry = checkEntry(name, value, file.origin);
    if ("key" in entry) settings.push(entry);
    else problems.push({ ...entry, origin: file.origin, line: findLine(file.text, name) });
  }
  return { settings, problems };
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
  const keys = CONFIG_KEYS.map(({ key }: ConfigKey) => key);
  return didYouMean(normalized.toLowerCase(), keys);
}

/** Finds the line, from 1, on which a key or a table of the top level begins. */
function findLine(text: string, key: string): number | undefined {
  const index = text.split("\n").findIndex((line) => {
    const name = /^\s*(?:\[{1,2}\s*)?["']?([\w-]+)["']?\s*(?:[=.\]]|$)/.exec(line)?.[1];
    return name === key;
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
