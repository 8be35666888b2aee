/**
 * The action of `swink doctor`.
 *
 * @module
 */

import { keyVariables, providerNames } from "../../adapters/connect.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import { join } from "../../src/platform/paths.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import { getUserConfigPath } from "../config/config_files.ts";
import { formatConfigProblem } from "../config/config_value.ts";
import { type Config, loadConfig } from "../config/load_config.ts";
import { getProviderSettings } from "../config/provider_settings.ts";
import { UNAVAILABLE_KEYRING } from "../credentials/credentials.ts";
import { openCredentials } from "../credentials/find_key.ts";
import { ExitCode } from "../host/exit_code.ts";
import { getFileProblem } from "../host/file_problem.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { getProgramDirectories } from "../host/program_directories.ts";
import { VERSION } from "../host/version.ts";
import { describeMissingClient } from "../mcp/client_check.ts";
import { findCurrentSources, openProject } from "../project/open_project.ts";
import { toPlainText } from "../render/plain_text.ts";
import { getStyle, type Style } from "../render/style.ts";
import { isFile } from "../run/settings/resolve_path.ts";
import { getSessionDirectory } from "../sessions/session_directory.ts";
import type { CheckResult } from "./check.ts";

/** Runs all checks, and further ones after them, and prints their results; ends with 1 if a run would fail. */
export async function runChecks(
  host: Host,
  { further = [] }: { readonly further?: readonly Check[] } = {},
): Promise<ExitCode> {
  const style = getStyle(host.terminal.output, host.env);
  let hasError = false;
  for (const check of [...CHECKS, ...further]) {
    for (const result of await check(host)) {
      hasError ||= result.type === "error";
      await host.terminal.output.write(formatResult(result, style));
    }
  }
  return hasError ? ExitCode.failed : ExitCode.ok;
}

/** A check of the installation. */
export type Check = (host: Host) => Promise<readonly CheckResult[]> | readonly CheckResult[];

const CHECKS: readonly Check[] = [
  checkRuntime,
  checkConfiguration,
  checkKeys,
  checkLocalModels,
  checkGit,
  checkSandbox,
  checkServers,
  checkSessions,
  checkProject,
];

function formatResult({ type, subject, finding, advice }: CheckResult, style: Style): string {
  const paint = { ok: style.success, warning: style.warning, error: style.error }[type];
  const lines = [`${paint(type.padEnd(7))}  ${subject}: ${toPlainText(finding)}`];
  if (advice !== undefined) lines.push(`         ${style.faint(toPlainText(advice))}`);
  return `${lines.join("\n")}\n`;
}

function checkRuntime(): CheckResult[] {
  const { deno, v8 } = Deno.version;
  const { os, arch } = Deno.build;
  return [{
    type: "ok",
    subject: "runtime",
    finding: `swink ${VERSION}, Deno ${deno}, V8 ${v8}, ${os} ${arch}`,
  }];
}

async function checkConfiguration(host: Host): Promise<CheckResult[]> {
  const { env } = host;
  const directories = getProgramDirectories(env);
  if (!directories) {
    return [{
      type: "warning",
      subject: "configuration",
      finding: "there is no home directory, so that no configuration, key or session is kept",
      advice: "Set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME, to absolute paths.",
    }];
  }
  const config = await loadRunConfig(host);
  const { settings, problems } = config;
  const invalid = problems.some(({ type }) => type === "error")
    ? undefined
    : await findInvalidSetting(config);
  const finding = `${settings.size} ${
    settings.size === 1 ? "key is" : "keys are"
  } set; your file is ${getUserConfigPath(directories)}`;
  return [
    { type: "ok", subject: "configuration", finding },
    ...problems.map((problem): CheckResult => ({
      type: problem.type,
      subject: "configuration",
      finding: formatConfigProblem(problem),
      ...(problem.origin.type === "user" && { advice: "Edit the file with: swink config edit" }),
    })),
    ...(invalid === undefined
      ? []
      : [{ type: "error", subject: "configuration", finding: invalid } as const]),
  ];
}

/** Loads the configuration of a run in the current directory. */
async function loadRunConfig(host: Host): Promise<Config> {
  return await loadConfig(await findCurrentSources(host), host.env);
}

/** Returns what is wrong with a value or a rule that only a run checks. */
async function findInvalidSetting(config: Config): Promise<string | undefined> {
  const [{ parseConfiguredSettings }, { checkRules }] = await Promise.all([
    importLate<typeof import("../run/settings/configured_settings.ts")>(
      "../run/settings/configured_settings.ts",
      import.meta.url,
    ),
    importLate<typeof import("../rules/rule_actions.ts")>(
      "../rules/rule_actions.ts",
      import.meta.url,
    ),
  ]);
  try {
    await checkRules(parseConfiguredSettings(config));
    return undefined;
  } catch (error) {
    return getErrorMessage(error);
  }
}

async function checkKeys(host: Host): Promise<CheckResult[]> {
  const { env } = host;
  const { settings } = await loadConfig({ directories: getProgramDirectories(env) }, env);
  const { places: saved, problems } = await checkSavedKeys(host);
  const places = [
    ...providerNames().flatMap((provider) => {
      const variable = keyVariables(provider).find((name) => env(name));
      return variable === undefined ? [] : [`${provider} (${variable})`];
    }),
    ...Object.entries(getProviderSettings(settings)).flatMap(([provider, { keyCommand }]) =>
      keyCommand === undefined ? [] : [`${provider} (key command)`]
    ),
    ...saved,
  ];
  if (places.length > 0) {
    return [{ type: "ok", subject: "keys", finding: places.join(", ") }, ...problems];
  }
  return [...problems, {
    type: "warning",
    subject: "keys",
    finding: "no provider has a key; only local models work",
    advice: "Save a key with: swink login anthropic",
  }];
}

/** Reads the saved keys, as a run does: a keyring can be locked, or missing. */
async function checkSavedKeys(
  host: Host,
): Promise<{ readonly places: readonly string[]; readonly problems: readonly CheckResult[] }> {
  const credentials = openCredentials(host);
  const places: string[] = [];
  const problems: CheckResult[] = [];
  for (const { provider, store } of credentials?.list() ?? []) {
    try {
      const key = await credentials?.read(provider);
      if (key === undefined) throw new Error(`The key for ${provider} is not in ${store.name}`);
      places.push(`${provider} (${store.name})`);
    } catch (error) {
      problems.push(toKeyProblem(provider, getErrorMessage(error)));
    }
  }
  for (const provider of credentials?.listUnavailable() ?? []) {
    problems.push(toKeyProblem(provider, `The key for ${provider} is in ${UNAVAILABLE_KEYRING}`));
  }
  return { places, problems };
}

function toKeyProblem(provider: string, finding: string): CheckResult {
  const advice = `Save it again with: swink login ${provider}`;
  return { type: "warning", subject: "keys", finding, advice };
}

/** Finds the models on this device and those of servers on this machine. */
async function checkLocalModels(host: Host): Promise<CheckResult[]> {
  const { findLocalModels, LOCAL_SERVERS } = await importLate<
    typeof import("../wizard/local_models.ts")
  >("../wizard/local_models.ts", import.meta.url);
  const { countStoredModels } = await importLate<typeof import("../models/local_store.ts")>(
    "../models/local_store.ts",
    import.meta.url,
  );
  const { findLlamaProblem } = await importLate<typeof import("../models/llama_check.ts")>(
    "../models/llama_check.ts",
    import.meta.url,
  );
  const { settings } = await loadRunConfig(host);
  const { models, locked } = await findLocalModels(host, {
    providers: getProviderSettings(settings),
    signal: new AbortController().signal,
  });
  const servers = [
    ...Array.from(
      Map.groupBy(models, ({ server }) => server),
      ([server, { length }]) => `${server} (${length})`,
    ),
    ...locked.map(({ name }) => `${name} (answers only with a key)`),
  ];
  const stored = await countStoredModels(host);
  const places = [...(stored > 0 ? [`this device (${stored})`] : []), ...servers];
  const subject = "local models";
  const problem = stored > 0 ? findLlamaProblem() : undefined;
  if (problem !== undefined) {
    return [{ type: "warning", subject, finding: places.join(", "), advice: problem }];
  }
  if (places.length > 0) return [{ type: "ok", subject, finding: places.join(", ") }];
  const ports = LOCAL_SERVERS.map(({ name, url }) => `${name}: ${new URL(url).port}`).join(", ");
  return [{ type: "ok", subject, finding: `none on this device, and no server (${ports})` }];
}

/** Finds the program whose output is part of the system prompt. */
function checkGit({ env }: Host): CheckResult[] {
  const [separator, name] = Deno.build.os === "windows" ? [";", "git.exe"] : [":", "git"];
  const directories = (env("PATH") ?? "").split(separator).filter((directory) => directory !== "");
  const path = directories.map((directory) => join(directory, name)).find(isFile);
  if (path !== undefined) return [{ type: "ok", subject: "git", finding: path }];
  return [{
    type: "warning",
    subject: "git",
    finding: "it is not in PATH, so that the model does not get the state of repositories",
    advice: "Install Git.",
  }];
}

/** Reads the files of MCP servers; it starts none of them. */
async function checkServers(host: Host): Promise<CheckResult[]> {
  const { env } = host;
  const current = await findCurrentSources(host);
  const subject = "MCP servers";
  const { readServers } = await importLate<typeof import("../mcp/server_files.ts")>(
    "../mcp/server_files.ts",
    import.meta.url,
  );
  try {
    const { settings } = await loadConfig(current, env);
    const passed = settings.get("env")?.value;
    const passEnvironment = Array.isArray(passed) ? passed.map(String) : [];
    const sources = { ...current, files: [], passEnvironment };
    const { config: { mcpServers = {} }, problems } = await readServers(sources, env);
    const names = Object.keys(mcpServers);
    const finding = names.length === 0 ? "none" : `${names.join(", ")}; try: swink mcp test`;
    const missing = names.length === 0 ? undefined : describeMissingClient();
    return [
      missing === undefined
        ? { type: "ok", subject, finding }
        : { type: "warning", subject, finding: names.join(", "), advice: `${missing}.` },
      ...problems.map((problem) => ({ type: "warning", subject, finding: problem } as const)),
    ];
  } catch (error) {
    const advice = "Correct the file, or remove it.";
    return [{ type: "error", subject, finding: getErrorMessage(error), advice }];
  }
}

async function checkSandbox(): Promise<CheckResult[]> {
  try {
    await using sandbox = createSandbox({ cwd: Deno.cwd(), homeAccess: "allow" });
    const report = await sandbox.describe();
    const { status, summary } = report;
    if (status === "confined") return [{ type: "ok", subject: "sandbox", finding: summary }];
    const unenforced = report.rules.filter(({ enforcedBy }) => enforcedBy === "none");
    return [
      { type: "warning", subject: "sandbox", finding: summary },
      ...unenforced.map(({ rule, how }): CheckResult => ({
        type: "warning",
        subject: "sandbox",
        finding: `not enforced: ${rule}`,
        advice: how,
      })),
    ];
  } catch (error) {
    return [{ type: "error", subject: "sandbox", finding: getErrorMessage(error) }];
  }
}

/** Writes a file where the sessions are, and removes it. */
async function checkSessions({ env }: Host): Promise<CheckResult[]> {
  const directories = getProgramDirectories(env);
  if (!directories) return [];
  const directory = getSessionDirectory(directories);
  try {
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
    const file = await Deno.makeTempFile({ dir: directory, prefix: ".doctor-" });
    await Deno.remove(file);
    return [await checkFreeSpace(directory)];
  } catch (error) {
    return [{
      type: "warning",
      subject: "sessions",
      finding: `${directory} cannot be written, so that runs are not saved: ${
        getFileProblem(error)
      }`,
      advice: "Correct the permissions, or set XDG_STATE_HOME to another directory.",
    }];
  }
}

/** Less free space is soon filled by sessions, and by what the agent builds. */
const MIN_FREE_BYTES = 200_000_000;

async function checkFreeSpace(directory: string): Promise<CheckResult> {
  const free = await readFreeBytes(directory);
  if (free === undefined) return { type: "ok", subject: "sessions", finding: directory };
  const finding = `${directory} (${formatBytes(free)} free)`;
  if (free >= MIN_FREE_BYTES) return { type: "ok", subject: "sessions", finding };
  return {
    type: "warning",
    subject: "sessions",
    finding: `the disk is almost full: ${finding}`,
    advice: "Delete old sessions with: swink sessions delete --older-than 90",
  };
}

/** Returns the free space of the disk of a directory; `undefined` where the system or a permission does not allow it. */
async function readFreeBytes(directory: string): Promise<number | undefined> {
  try {
    // A call without the permission would ask for it.
    if (Deno.permissions.querySync({ name: "sys" }).state !== "granted") return undefined;
    const { statfs } = await import("node:fs/promises");
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

function formatBytes(bytes: number): string {
  return bytes >= 1e9 ? `${Math.floor(bytes / 1e9)} GB` : `${Math.floor(bytes / 1e6)} MB`;
}

async function checkProject(host: Host): Promise<CheckResult[]> {
  const directories = getProgramDirectories(host.env);
  const { signal } = new AbortController();
  const options = { cwd: Deno.cwd(), trust: false, asks: false, directories, signal };
  const { root, content, isTrusted } = await openProject(options, host);
  if (content.length === 0) {
    return [{ type: "ok", subject: "project", finding: `${root} has no files for swink` }];
  }
  const names = content.join(", ");
  if (isTrusted) {
    return [{ type: "ok", subject: "project", finding: `${root} is trusted: ${names}` }];
  }
  return [{
    type: "warning",
    subject: "project",
    finding: `${root} is not trusted as it is, so that these files are not loaded: ${names}`,
    advice: "Start swink run in a terminal and answer its question, or pass --trust.",
  }];
}
