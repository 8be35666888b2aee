/**
 * The configuration of a run: its project, and the options of the command line with the values of the configuration.
 *
 * @module
 */

import { type GivenOptions, type OptionValues, toFlag } from "../../command_line/definition.ts";
import { applyConfig } from "../../config/apply_config.ts";
import { CONFIG_KEYS } from "../../config/config_keys.ts";
import {
  type ConfigProblem,
  type ConfigSetting,
  formatConfigProblem,
  formatOrigins,
} from "../../config/config_value.ts";
import { type Config, loadConfig } from "../../config/load_config.ts";
import { getProviderSettings, type ProviderSettings } from "../../config/provider_settings.ts";
import type { Hook } from "../../hooks/hook.ts";
import { ConfigurationError, UsageError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { getProgramDirectories, type ProgramDirectories } from "../../host/program_directories.ts";
import { openProject } from "../../project/open_project.ts";
import type { Project } from "../../project/project.ts";
import { toPlainText } from "../../render/plain_text.ts";
import type { RunOptions } from "../../settings/run_options.ts";
import { resolveDirectory } from "./resolve_path.ts";

/** Calls `parse`, which parses the value of an option, and lets its errors name the source of the value. */
export type ParseOption = <Value>(option: keyof RunOptions, parse: () => Value) => Value;

/** The command line of a run. */
export interface RunCommandLine extends GivenOptions<RunOptions> {
  /** Whether the configuration and the files of the project are not used. Default: `false`. */
  readonly ignoresProject?: boolean;
}

/** A run after its configuration, whose options have the values of the configuration. */
export interface ConfiguredRun extends GivenOptions<RunOptions> {
  /** The settings of the configuration by key, such as those of `resolveKeyBindings()`. */
  readonly settings: ReadonlyMap<string, ConfigSetting>;
  /** Settings of providers, by name. */
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  /** Hooks of the user and of the project. */
  readonly hooks: readonly Hook[];
  /** The program's directories; `undefined` for a user without a home directory. */
  readonly directories: ProgramDirectories | undefined;
  /** The project; `undefined` with `--bare`, or if it is not used. */
  readonly project?: Project;
  /** Calls a function that parses the value of an option; its errors name the source of the value. */
  readonly parseOption: ParseOption;
}

/**
 * Loads the configuration of a run.
 *
 * @throws {UsageError} If `--cwd` or `--config` is invalid.
 * @throws {ConfigurationError} If a file or a variable is invalid.
 */
export async function configureRun(
  { options, given, ignoresProject = false }: RunCommandLine,
  signal: AbortSignal,
  host: Host,
): Promise<ConfiguredRun> {
  const cwd = resolveDirectory(options.cwd);
  const directories = getProgramDirectories(host.env);
  const { bare, trust } = options;
  const project = bare || ignoresProject
    ? undefined
    : await openProject({ cwd, trust, directories, signal }, host);
  const config = await loadConfig({
    directories: bare ? undefined : directories,
    programs: project?.isTrusted ? project.programs : undefined,
    cwd,
    overrides: options.config,
  }, host.env);
  await reportProblems(config.problems, options, host);
  return {
    options: applyConfig<RunOptions & OptionValues>(options, given, config.settings),
    given,
    settings: config.settings,
    hooks: config.hooks,
    directories,
    providers: getProviderSettings(config.settings),
    ...(project && { project }),
    parseOption: createOptionParser(config, given),
  };
}

/** Returns a function that parses the value of an option, and lets its errors name the source of the value. */
export function createOptionParser(
  { settings }: Pick<Config, "settings">,
  given: ReadonlySet<string>,
): ParseOption {
  return (option, parse) => parseOption(option, parse, { given, settings });
}

/** Reports ignored parts of the configuration, and throws for invalid ones. */
async function reportProblems(
  problems: readonly ConfigProblem[],
  { strictConfig }: Pick<RunOptions, "strictConfig">,
  { terminal }: Pick<Host, "terminal">,
): Promise<void> {
  const isError = ({ type }: ConfigProblem) => strictConfig || type === "error";
  const errors = problems.filter(isError);
  if (errors.length > 0) {
    const [first = "", ...others] = errors.slice(0, MAX_WARNINGS).map(formatConfigProblem);
    const isUsage = errors.every(({ origin }) => origin.type === "override");
    throw new (isUsage ? UsageError : ConfigurationError)(first, others.join("\n"));
  }
  for (const problem of problems.slice(0, MAX_WARNINGS)) {
    await terminal.messages.write(`warning: ${toPlainText(formatConfigProblem(problem))}\n`);
  }
  const others = problems.length - MAX_WARNINGS;
  if (others > 0) {
    await terminal.messages.write(
      `warning: ${others} more warnings about the configuration; swink config get prints all\n`,
    );
  }
}

/** Maximum number of warnings before a run. */
const MAX_WARNINGS = 10;

/** Calls `parse`. An error about a value of the configuration names its source instead of the flag. */
function parseOption<Value>(
  option: string,
  parse: () => Value,
  { given, settings }: Pick<ConfiguredRun, "given" | "settings">,
): Value {
  try {
    return parse();
  } catch (error) {
    const key = CONFIG_KEYS.find((definition) => definition.option === option)?.key ?? "";
    const setting = given.has(option) ? undefined : settings.get(key);
    if (!setting || !(error instanceof UsageError)) throw error;
    const message = error.message.replaceAll(toFlag(option), key);
    const isUsage = setting.origin.type === "override";
    const ErrorClass = isUsage ? UsageError : ConfigurationError;
    throw new ErrorClass(`${formatOrigins(setting)}: ${message}`, error.advice);
  }
}
