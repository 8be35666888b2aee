/**
 * Parses the arguments of `--config`.
 *
 * @module
 */

import { parse, TomlError } from "smol-toml";
import { checkConfigText, checkConfigValue } from "./check_config_value.ts";
import type { ConfigKey } from "./config_keys.ts";
import { findConfigKey } from "./config_tables.ts";
import type {
  CheckedConfigValue,
  ConfigLayer,
  ConfigProblem,
  ConfigSetting,
} from "./config_value.ts";
import { suggestKey } from "./parse_config.ts";

/** Parses arguments such as `max_turns=5`. A list, or a string in quotes, is written as in TOML. */
export function parseOverrides(texts: readonly string[]): ConfigLayer {
  const settings: ConfigSetting[] = [];
  const problems: ConfigProblem[] = [];
  for (const text of texts) {
    const origin = { type: "override", text } as const;
    const result = parseOverride(text);
    if (typeof result === "string") problems.push({ type: "error", origin, message: result });
    else settings.push({ ...result, origin });
  }
  return { settings, problems };
}

/** Parses one argument; returns what is wrong with it as a string. */
function parseOverride(text: string): Pick<ConfigSetting, "key" | "value"> | string {
  const end = text.indexOf("=");
  if (end < 1) return "Write it as KEY=VALUE";
  const key = text.slice(0, end).trim();
  const definition = findConfigKey(key);
  if (!definition) return `Unknown key ${JSON.stringify(key)}${suggestKey(key)}`;
  const checked = parseValue(definition, text.slice(end + 1).trim());
  return checked.type === "valid" ? { key, value: checked.value } : checked.message;
}

function parseValue(definition: ConfigKey, text: string): CheckedConfigValue {
  if (!/^["'[]/.test(text)) return checkConfigText(definition, text);
  try {
    return checkConfigValue(definition, parse(`value = ${text}`).value);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { type: "invalid", message: `The value ${text} is not valid TOML` };
  }
}
