/**
 * Applies the configuration to the options of a command.
 *
 * @module
 */

import type { OptionValue, OptionValues } from "../command_line/definition.ts";
import { CONFIG_KEYS } from "./config_keys.ts";
import type { ConfigSetting } from "./config_value.ts";

/**
 * Returns the options with the values of the configuration. An option that occurs on the command line precedes it;
 * forbidden tools add up.
 *
 * @param options The options of the command line, with defaults.
 * @param given Names of the options that occur on it.
 */
export function applyConfig<Options extends OptionValues>(
  options: Options,
  given: ReadonlySet<string>,
  settings: ReadonlyMap<string, ConfigSetting>,
): Options {
  const values: Record<string, OptionValue> = { ...options };
  for (const { key, option } of CONFIG_KEYS) {
    const value = settings.get(key)?.value;
    if (value === undefined || !(option in options)) continue;
    if (!given.has(option)) values[option] = value;
    else if (option === "disallowedTools") {
      values[option] = [...toList(options[option]), ...toList(value)];
    }
  }
  return values as Options;
}

function toList(value: OptionValue): readonly string[] {
  return Array.isArray(value) ? value : [];
}
