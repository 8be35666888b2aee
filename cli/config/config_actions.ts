/**
 * The actions of `swink config`.
 *
 * @module
 */

import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { requireProgramDirectories } from "../host/program_directories.ts";
import { findCurrentSources } from "../project/open_project.ts";
import { toPlainText } from "../render/plain_text.ts";
import { changeConfigFile, openConfigFile } from "./config_file.ts";
import { getUserConfigPath } from "./config_files.ts";
import { CONFIG_KEYS } from "./config_keys.ts";
import { findConfigKey, listTableKeys } from "./config_tables.ts";
import {
  type ConfigLayer,
  type ConfigProblem,
  type ConfigSetting,
  type ConfigValue,
  formatConfigProblem,
  formatOrigins,
} from "./config_value.ts";
import { editConfig } from "./edit_config.ts";
import { resolveKeyBindings } from "./key_bindings.ts";
import { loadConfig } from "./load_config.ts";
import { parseConfig, suggestKey } from "./parse_config.ts";
import { parseOverrides } from "./parse_overrides.ts";

/** Prints the value of a key, or all settings with their sources. Nothing is printed for a key that is not set. */
export async function printSettings(key: string | undefined, host: Host): Promise<ExitCode> {
  const { output, messages } = host.terminal;
  if (key !== undefined) checkKey(key);
  const { settings, problems } = await loadConfig(await findCurrentSources(host), host.env);
  await reportProblems(problems, host);
  if (key === undefined) {
    const lines = [...settings.values()].map(formatSetting);
    await output.write(lines.map((line) => `${toPlainText(line)}\n`).join(""));
    if (lines.length === 0 && problems.length === 0) {
      await messages.write("No key is set: set one with swink config set\n");
    }
  } else {
    const value = settings.get(key)?.value ?? findConfigKey(key)?.default;
    if (value !== undefined) await output.write(`${toPlainText(formatPlain(value))}\n`);
  }
  return problems.some(({ type }) => type === "error") ? ExitCode.configuration : ExitCode.ok;
}

function formatSetting(setting: ConfigSetting): string {
  return `${setting.key} = ${formatToml(setting.value)}  # ${formatOrigins(setting)}`;
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
  const value = text === undefined ? undefined : parseValue(key, text);
  return await changeKey(key, () => value, host);
}

/** Options for `changeKey()`. */
export interface ChangeOptions extends Pick<Host, "env"> {
  /** Ends the wait for another program that changes the file. Default: the wait ends after ten seconds. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the new value contains that of the file, so that an invalid one must be corrected first. Default: `false`. */
  readonly extendsValue?: boolean;
}

/**
 * Changes a key of the user's file.
 *
 * @param change Returns the new value for the one in the file; `undefined` removes the key.
 */
export async function changeKey(
  key: string,
  change: (value: ConfigValue | undefined) => ConfigValue | undefined,
  { env, signal, extendsValue = false }: ChangeOptions,
): Promise<ExitCode> {
  const file = getUserConfigPath(requireProgramDirectories("the configuration", env));
  const origin = { type: "user", file } as const;
  await changeConfigFile(file, (content) => {
    const before = parseConfig(content, origin);
    const problem = before.problems.find((problem) =>
      isSyntaxError(problem) ||
      extendsValue && problem.type === "error" && problem.key === key
    );
    if (problem) {
      const advice = "Correct the file first: swink config edit";
      throw new ConfigurationError(formatConfigProblem(problem), advice);
    }
    const previous = before.settings.find((setting) => setting.key === key)?.value;
    const edited = editConfig(content, key, change(previous));
    const [conflict] = findKeyProblems(parseConfig(edited, origin));
    // A conflict that the file already has does not prevent other changes.
    if (conflict && findKeyProblems(before).length === 0) throw new UsageError(conflict.message);
    return edited;
  }, { signal });
  return ExitCode.ok;
}

function findKeyProblems({ settings }: ConfigLayer): readonly ConfigProblem[] {
  return resolveKeyBindings(new Map(settings.map((setting) => [setting.key, setting]))).problems;
}

/** @throws {UsageError} If there is no such key. */
function checkKey(key: string): void {
  if (findConfigKey(key)) return;
  const names = key.startsWith("keys.") ? listTableKeys("keys", "") : [
    ...CONFIG_KEYS.map((definition) => definition.key),
    "keys.ACTION",
    ...listTableKeys("providers", "NAME"),
  ];
  const message = `Unknown key ${JSON.stringify(key)}${suggestKey(key)}`;
  throw new UsageError(message, `Keys: ${names.join(", ")}`);
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
  const layer = parseConfig(content, { type: "user", file });
  const problems = [...layer.problems, ...findKeyProblems(layer)];
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
