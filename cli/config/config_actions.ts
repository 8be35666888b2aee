/**
 * The actions of `swink config`.
 *
 * @module
 */

import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { getProgramDirectories, requireProgramDirectories } from "../host/program_directories.ts";
import { findTrustedRoot } from "../project/open_project.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getUserConfigPath } from "./config_files.ts";
import { CONFIG_KEYS, findConfigKey } from "./config_keys.ts";
import { changeConfigFile, openConfigFile } from "./config_file.ts";
import {
  type ConfigProblem,
  type ConfigSetting,
  type ConfigValue,
  formatConfigProblem,
  formatOrigin,
} from "./config_value.ts";
import { editConfig } from "./edit_config.ts";
import { type Config, loadConfig } from "./load_config.ts";
import { parseConfig, suggestKey } from "./parse_config.ts";
import { parseOverrides } from "./parse_overrides.ts";

/** Prints the value of a key, or all settings with their sources. Nothing is printed for a key that is not set. */
export async function printSettings(key: string | undefined, host: Host): Promise<ExitCode> {
  const { output } = host.terminal;
  if (key !== undefined) checkKey(key);
  const { settings, problems } = await loadCurrentConfig(host);
  await reportProblems(problems, host);
  if (key === undefined) {
    const lines = [...settings.values()].map(formatSetting);
    await output.write(lines.map((line) => `${toPlainText(line)}\n`).join(""));
  } else {
    const value = settings.get(key)?.value ?? findConfigKey(key)?.default;
    if (value !== undefined) await output.write(`${toPlainText(formatPlain(value))}\n`);
  }
  return problems.some(({ type }) => type === "error") ? ExitCode.configuration : ExitCode.ok;
}

async function loadCurrentConfig(host: Host): Promise<Config> {
  const directories = getProgramDirectories(host.env);
  const projectRoot = directories && await findTrustedRoot(Deno.cwd(), { directories, host });
  return await loadConfig({ directories, projectRoot }, host.env);
}

function formatSetting({ key, value, origin }: ConfigSetting): string {
  return `${key} = ${formatToml(value)}  # ${formatOrigin(origin)}`;
}

/** JSON's strings, numbers, booleans and lists are valid TOML. */
function formatToml(value: ConfigValue): string {
  return JSON.stringify(value);
}

/** Formats a value for scripts: one line per item of a list. */
function formatPlain(value: ConfigValue): string {
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** Sets a key of the user's file; without a value, removes it. */
export async function setKey(
  { key, value: text }: { readonly key: string; readonly value?: string },
  host: Host,
): Promise<ExitCode> {
  checkKey(key);
  const file = getUserConfigPath(requireProgramDirectories("the configuration", host.env));
  const value = text === undefined ? undefined : parseValue(key, text);
  await changeConfigFile(file, (content) => {
    const [syntax] = parseConfig(content, { type: "user", file }).problems.filter(isSyntaxError);
    if (syntax) {
      const advice = "Correct the file first: swink config edit";
      throw new ConfigurationError(formatConfigProblem(syntax), advice);
    }
    return editConfig(content, key, value);
  });
  return ExitCode.ok;
}

/** @throws {UsageError} If there is no such key. */
function checkKey(key: string): void {
  if (findConfigKey(key)) return;
  const names = CONFIG_KEYS.map((definition) => definition.key).join(", ");
  const message = `Unknown key ${JSON.stringify(key)}${suggestKey(key)}`;
  throw new UsageError(
    message,
    `Keys: ${names}, providers.NAME.base_url, providers.NAME.key_command, keys.ACTION`,
  );
}

function isSyntaxError({ message }: ConfigProblem): boolean {
  return message.startsWith("Invalid TOML");
}

function parseValue(key: string, text: string): ConfigValue {
  const { settings: [setting], problems: [problem] } = parseOverrides([`${key}=${text}`]);
  if (setting) return setting.value;
  throw new UsageError(problem?.message ?? `Invalid value for ${key}`);
}

/** Opens the user's file in an editor, and reports what is wrong with it afterwards. */
export async function editFile(host: Host): Promise<ExitCode> {
  const file = getUserConfigPath(requireProgramDirectories("the configuration", host.env));
  await openConfigFile(file, host.env);
  const content = await Deno.readTextFile(file).catch(() => "");
  const { problems } = parseConfig(content, { type: "user", file });
  await reportProblems(problems, host);
  return problems.some(({ type }) => type === "error") ? ExitCode.configuration : ExitCode.ok;
}

/** Prints the path of the user's file. */
export async function printPath(host: Host): Promise<ExitCode> {
  await host.terminal.output.write(
    `${getUserConfigPath(requireProgramDirectories("the configuration", host.env))}\n`,
  );
  return ExitCode.ok;
}

async function reportProblems(
  problems: readonly ConfigProblem[],
  { terminal }: Host,
): Promise<void> {
  for (const problem of problems) {
    await terminal.messages.write(
      `${problem.type}: ${toPlainText(formatConfigProblem(problem))}\n`,
    );
  }
}
