/**
 * The settings of a run: its options, checked before anything starts.
 *
 * @module
 */

import type { ModelSpec } from "../../mod.ts";
import { modelSpec } from "../../src/core/model.ts";
import type { SandboxNet } from "../../src/tools/mod.ts";
import type { ProviderSettings } from "../config/provider_settings.ts";
import { UsageError } from "../host/cli_error.ts";
import type { ConfiguredRun } from "./configure_run.ts";
import type { OutputFormat, RunOptions } from "../settings/run_options.ts";
import type { LoadedProject } from "../project/load_project.ts";
import { resolveDirectory, resolveNewFile, resolvePath, resolveRecording } from "./resolve_path.ts";
import type { Verbosity } from "../render/text_reporter.ts";
import { splitRules } from "./tool_rules.ts";

/** The settings of a run. */
export interface RunSettings {
  /** Model. Default: chosen by the environment. */
  readonly model?: ModelSpec;
  /** Base URL of the provider's API. */
  readonly baseUrl?: string;
  /** Settings of providers, by name. */
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
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

/** The settings of a run, and the files of the project. */
export interface ProjectRunSettings extends RunSettings {
  /** The files of the project. */
  readonly project: LoadedProject;
}

/**
 * Checks the options of a run.
 *
 * @throws {UsageError} If a value is invalid, or a directory does not exist.
 * @throws {ConfigurationError} If a value of the configuration is invalid.
 */
export function parseRunSettings(
  { options, providers, parseOption }: Pick<
    ConfiguredRun,
    "options" | "providers" | "parseOption"
  >,
): RunSettings {
  const { system, baseUrl, model, patch, record, replay, tools } = options;
  const parseRules = (option: "allowedTools" | "disallowedTools" | "tools") =>
    parseOption(option, () => (options[option] ?? []).flatMap(splitRules));
  return {
    cwd: resolveDirectory(options.cwd),
    maxTurns: options.maxTurns,
    outputFormat: options.outputFormat,
    verbosity: options.quiet ? "quiet" : options.verbose ? "verbose" : "normal",
    plain: options.plain,
    allowedTools: parseRules("allowedTools"),
    disallowedTools: parseRules("disallowedTools"),
    net: parseOption("net", () => parseNet(options.net)),
    sandbox: options.sandbox,
    approveAll: options.approveAll,
    providers,
    ...parseOption("env", () => parseEnvironment(options.env ?? [])),
    ...(tools && { tools: parseRules("tools") }),
    ...(model !== undefined && { model: parseOption("model", () => parseModel(model)) }),
    ...(baseUrl !== undefined && { baseUrl: parseOption("baseUrl", () => parseUrl(baseUrl)) }),
    ...(system !== undefined && { systemPrompt: system }),
    ...(patch !== undefined && { patch: patch === "-" ? patch : resolveNewFile("--patch", patch) }),
    ...(record !== undefined && { record: resolveRecording(record) }),
    ...(replay !== undefined && { replay: resolvePath(replay) }),
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
