/**
 * The settings of a run without options, which the configuration determines.
 *
 * @module
 */

import type { OptionValues } from "../command_line/definition.ts";
import { applyConfig } from "../config/apply_config.ts";
import type { Config } from "../config/load_config.ts";
import { getProviderSettings } from "../config/provider_settings.ts";
import { listDefaults } from "../settings/list_defaults.ts";
import { RUN_OPTIONS, type RunOptions } from "../settings/run_options.ts";
import { createOptionParser, type ParseOption } from "./configure_run.ts";
import { parseRunSettings, type RunSettings } from "./settings.ts";

/** Names of options on the command line: there are none. */
const NONE: ReadonlySet<string> = new Set();

/**
 * Returns the settings of a run without options.
 *
 * @throws {ConfigurationError} If a value of the configuration is invalid.
 */
export function parseConfiguredSettings(
  { settings }: Pick<Config, "settings">,
  parseOption: ParseOption = createOptionParser({ settings }, NONE),
): RunSettings {
  const defaults = Object.fromEntries(listDefaults(RUN_OPTIONS)) as RunOptions & OptionValues;
  return parseRunSettings({
    options: applyConfig(defaults, NONE, settings),
    given: NONE,
    settings,
    hooks: [],
    directories: undefined,
    providers: getProviderSettings(settings),
    parseOption,
  });
}
