/**
 * The settings of a run: its options, checked before anything starts.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import { modelSpec } from "../../src/core/model.ts";
import { dirname, isAbsolute, join } from "../../src/platform/paths.ts";
import type { SandboxNet } from "../../src/tools/mod.ts";
import { UsageError } from "../host/cli_error.ts";
import type { OutputFormat, RunOptions } from "./options.ts";
import type { Verbosity } from "../render/text_reporter.ts";
import { splitRules } from "./tool_rules.ts";

/** The settings of a run. */
export interface RunSettings {
  /** Model. Default: chosen by the environment. */
  readonly model?: ModelSpec;
  /** Base URL of the provider's API. */
  readonly baseUrl?: string;
  /** Replaces the default system prompt. */
  readonly systemPrompt?: string;
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** Maximum number of turns. */
  readonly maxTurns?: number;
  /** Format of standard output. */
  readonly outputFormat: OutputFormat;
  /** Destination of the patch: an absolute path, or `-` for standard output. Default: no patch. */
  readonly patch?: string;
  /** Absolute path of the file that records all model requests and responses. */
  readonly record?: string;
  /** Absolute path of the recording that answers model requests. */
  readonly replay?: string;
  /** Amount of text. */
  readonly verbosity: Verbosity;
  /** Whether the text is written without colors, status and cursor movement. */
  readonly plain: boolean;
  /** Names of the only tools. Default: all tools. */
  readonly tools?: readonly string[];
  /** Rules for calls that need no approval. */
  readonly allowedTools: readonly string[];
  /** Rules for tools to remove and calls to forbid. */
  readonly disallowedTools: readonly string[];
  /** Whether every tool call runs without asking. */
  readonly approveAll: boolean;
  /** Network access of commands. */
  readonly net: SandboxNet;
  /** Names of environment variables of this program to pass to commands. */
  readonly passEnvironment: readonly string[];
  /** Environment variables to set for commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the kernel confines commands: as far as it can, or no command runs without it, or never. */
  readonly sandbox: RunOptions["sandbox"];
}

/**
 * Checks the options of a run.
 *
 * @throws {UsageError} If a value is invalid, or a directory does not exist.
 */
export function parseRunSettings(options: RunOptions): RunSettings {
  const { system, baseUrl, model, patch, record, replay, tools } = options;
  return {
    cwd: resolveDirectory(options.cwd),
    maxTurns: options.maxTurns,
    outputFormat: options.outputFormat,
    verbosity: options.quiet ? "quiet" : options.verbose ? "verbose" : "normal",
    plain: options.plain,
    allowedTools: (options.allowedTools ?? []).flatMap(splitRules),
    disallowedTools: (options.disallowedTools ?? []).flatMap(splitRules),
    net: parseNet(options.net),
    sandbox: options.sandbox,
    approveAll: options.approveAll,
    ...parseEnvironment(options.env ?? []),
    ...(tools && { tools: tools.flatMap(splitRules) }),
    ...(model !== undefined && { model: parseModel(model) }),
    ...(baseUrl !== undefined && { baseUrl: parseUrl(baseUrl) }),
    ...(system !== undefined && { systemPrompt: system }),
    ...(patch !== undefined && { patch: patch === "-" ? patch : resolveNewFile("--patch", patch) }),
    ...(record !== undefined && { record: resolveRecording(record) }),
    ...(replay !== undefined && { replay: resolve(replay) }),
  };
}

function parseModel(name: string): ModelSpec {
  try {
    return modelSpec(name);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new UsageError(
    `Invalid value ${JSON.stringify(text)} for --base-url: must be a URL such as https://host/path`,
  );
}

/** Resolves a path against the current directory. */
function resolve(path: string): string {
  return isAbsolute(path) ? join(path) : join(Deno.cwd(), path);
}

function resolveDirectory(path = "."): string {
  const directory = resolve(path);
  if (isDirectory(directory)) return directory;
  throw new UsageError(`Invalid value ${JSON.stringify(path)} for --cwd: not a directory`);
}

/** Resolves and checks the path of a file that is written after the run, which may take an hour. */
function resolveNewFile(flag: string, path: string): string {
  const file = resolve(path);
  const message = `Invalid value ${JSON.stringify(path)} for ${flag}`;
  if (isDirectory(file)) throw new UsageError(`${message}: is a directory`);
  if (isDirectory(dirname(file))) return file;
  throw new UsageError(`${message}: directory ${dirname(file)} does not exist`);
}

/** Resolves the path of a recording, which is replaced when the run ends: a link stays, and a device is no recording. */
function resolveRecording(path: string): string {
  const file = resolveNewFile("--record", path);
  const info = statFile(file);
  if (!info) return file;
  if (info.isFile) return Deno.realPathSync(file);
  throw new UsageError(`Invalid value ${JSON.stringify(path)} for --record: not a regular file`);
}

function isDirectory(path: string): boolean {
  return statFile(path)?.isDirectory ?? false;
}

function statFile(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

/** Parses variables, as `NAME` or `NAME=VALUE`. */
function parseEnvironment(
  variables: readonly string[],
): Pick<RunSettings, "passEnvironment" | "environment"> {
  const invalid = variables.find((variable) => !/^[A-Za-z_]\w*(=|$)/.test(variable));
  if (invalid !== undefined) {
    const [name = ""] = invalid.split("=", 1);
    throw new UsageError(
      `Invalid value ${JSON.stringify(name)} for --env: must be NAME or NAME=VALUE`,
    );
  }
  const split = (variable: string): [string, string] => {
    const end = variable.indexOf("=");
    return [variable.slice(0, end), variable.slice(end + 1)];
  };
  return {
    passEnvironment: variables.filter((variable) => !variable.includes("=")),
    environment: Object.fromEntries(
      variables.filter((variable) => variable.includes("=")).map(split),
    ),
  };
}

/** Parses `on`, `off`, or hosts separated by commas. */
function parseNet(text: string): SandboxNet {
  if (text === "on" || text === "off") return text;
  const hosts = text.split(",").map((host) => host.trim()).filter((host) => host !== "");
  const isHost = (host: string) => /^(\*\.)?[\w.-]+$/.test(host) && !/^(on|off)$/i.test(host);
  if (hosts.length > 0 && hosts.every(isHost)) return hosts;
  throw new UsageError(
    `Invalid value ${JSON.stringify(text)} for --net: must be on, off or hosts separated by commas`,
  );
}
