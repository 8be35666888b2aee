/**
 * The settings of a run without options, which the configuration determines.
 *
 * @module
 */

import type { OptionValues } from "../../command_line/definition.ts";
import { applyConfig } from "../../config/apply_config.ts";
import { formatConfigProblem } from "../../config/config_value.ts";
import { type Config, loadConfig } from "../../config/load_config.ts";
import { getProviderSettings } from "../../config/provider_settings.ts";
import { ConfigurationError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { findCurrentSources } from "../../project/open_project.ts";
import { createDefaultOptions } from "../../settings/default_options.ts";
import { RUN_OPTIONS, type RunOptions } from "../../settings/run_options.ts";
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
  const defaults: RunOptions & OptionValues = createDefaultOptions(RUN_OPTIONS);
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

/**
 * Loads the configuration of a run in the current directory. Never asks.
 *
 * @throws {ConfigurationError} If it is invalid.
 */
export async function loadCurrentConfig(host: Pick<Host, "env">): Promise<Config> {
  const sources = { ...await findCurrentSources(host), cwd: Deno.cwd() };
  const config = await loadConfig(sources, host.env);
  const error = config.problems.find(({ type }) => type === "error");
  if (error) throw new ConfigurationError(formatConfigProblem(error));
  return config;
}
