/**
 * The settings of a run: its options, checked before anything starts.
 *
 * @module
 */

import type { JsonSchema, ModelSpec, ThinkingLevel } from "../../../mod.ts";
import { modelSpec, THINKING_LEVELS } from "../../../src/core/models/model.ts";
import type { SandboxNet } from "../../../src/tools/mod.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import type { ConfigOrigin } from "../../config/config_value.ts";
import type { ProviderSettings } from "../../config/provider_settings.ts";
import type { Hook } from "../../hooks/hook.ts";
import { UsageError } from "../../host/cli_error.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import { readTextFile } from "../../host/read_text_file.ts";
import type { ServerSources } from "../../mcp/server_files.ts";
import { getUserServersPath, isJson } from "../../mcp/server_paths.ts";
import type { LoadedProject } from "../../project/load_project.ts";
import type { Verbosity } from "../../render/text_reporter.ts";
import {
  parseSessionChoice,
  type SessionChoice,
  type SessionSelection,
} from "../../sessions/session_choice.ts";
import type { OutputFormat, RunOptions } from "../../settings/run_options.ts";
import { readAnswerSchema } from "./answer_schema.ts";
import type { ConfiguredRun } from "./configure_run.ts";
import {
  isFile,
  resolveDirectory,
  resolveNewFile,
  resolvePath,
  resolveRecording,
  resolveReplay,
} from "./resolve_path.ts";
import { splitRules } from "./tool_rules.ts";

/** The settings of a run. */
export interface RunSettings {
  /** Model. Default: chosen by the environment. */
  readonly model?: ModelSpec;
  /** Whether the command line names the model, which then precedes that of a session. */
  readonly isModelGiven: boolean;
  /** Thinking level, which replaces that of the model. */
  readonly thinkingLevel?: ThinkingLevel;
  /** Models that continue when the model fails, in order. */
  readonly fallbackModels: readonly ModelSpec[];
  /** Base URL of the provider's API. */
  readonly baseUrl?: string;
  /** Settings of providers, by name. */
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** Replaces the default system prompt. */
  readonly systemPrompt?: string;
  /** Absolute paths of the images of the prompt. */
  readonly images: readonly string[];
  /** Text after the system prompt. */
  readonly appendedPrompt?: string;
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** Maximum number of turns. */
  readonly maxTurns?: number;
  /** Maximum cost in US dollars. */
  readonly maxCost?: number;
  /** Maximum duration in milliseconds. */
  readonly timeoutMs?: number;
  /** JSON Schema of the answer. */
  readonly schema?: JsonSchema;
  /** Absolute path of the file for the text of the last reply. */
  readonly lastMessageFile?: string;
  /** Absolute path of the file for settings, requests and events. */
  readonly debugFile?: string;
  /** Format of standard input. */
  readonly inputFormat: RunOptions["inputFormat"];
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
  /** Names of the only tools. Default: all tools. */
  readonly tools?: readonly string[];
  /** Rules for calls that need no approval. */
  readonly allowedTools: readonly string[];
  /** Rules for tools to remove and calls to forbid. */
  readonly disallowedTools: readonly string[];
  /** The calls that need approval. */
  readonly permissionMode: RunOptions["permissionMode"];
  /** Absolute paths of further directories in which the tools may read and write. */
  readonly addedDirectories: readonly string[];
  /** Network access of commands. */
  readonly net: SandboxNet;
  /** Names of environment variables of this program to pass to commands. */
  readonly passEnvironment: readonly string[];
  /** Environment variables to set for commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Hooks of the user and of the project. */
  readonly hooks: readonly Hook[];
  /** Sources of MCP servers; `undefined` if there is none. */
  readonly servers?: ServerSources;
  /** The session that the run belongs to. */
  readonly session: SessionSelection;
  /** Whether the kernel confines commands: as far as it can, or no command runs without it, or never. */
  readonly sandbox: RunOptions["sandbox"];
}

/** The settings of a run whose questions are answered, and the files of the project. */
export interface ProjectRunSettings extends RunSettings {
  /** The files of the project. */
  readonly project: LoadedProject;
  /** The session that the run belongs to. */
  readonly session: SessionChoice;
}

/**
 * Checks the options of a run.
 *
 * @throws {UsageError} If a value is invalid, or a directory does not exist.
 * @throws {ConfigurationError} If a value of the configuration is invalid.
 */
export function parseRunSettings(
  configured: ConfiguredRun,
): RunSettings {
  const { options, given, providers, parseOption } = configured;
  const { baseUrl, model, patch, record, replay, tools, outputLastMessage, debugFile } = options;
  const parseRules = (option: "allowedTools" | "disallowedTools" | "tools") =>
    parseOption(option, () => (options[option] ?? []).flatMap(splitRules));
  return {
    cwd: resolveDirectory(options.cwd),
    maxTurns: options.maxTurns,
    ...parseFormats(configured),
    verbosity: options.quiet ? "quiet" : options.verbose ? "verbose" : "normal",
    allowedTools: parseRules("allowedTools"),
    disallowedTools: parseRules("disallowedTools"),
    ...parsePermissions(configured),
    sandbox: options.sandbox,
    addedDirectories: parseOption(
      "addDir",
      () => (options.addDir ?? []).map((path) => resolveDirectory(path, "--add-dir")),
    ),
    isModelGiven: given.has("model"),
    providers,
    session: parseSessionChoice(options),
    hooks: configured.hooks,
    ...findServers(configured),
    ...parseOption("env", () => parseEnvironment(options.env ?? [])),
    ...(tools && { tools: parseRules("tools") }),
    ...(model !== undefined && { model: parseOption("model", () => parseModel(model)) }),
    ...(baseUrl !== undefined && { baseUrl: parseOption("baseUrl", () => parseUrl(baseUrl)) }),
    fallbackModels: parseOption(
      "fallbackModel",
      () => (options.fallbackModel ?? []).flatMap(splitList).map(parseModel),
    ),
    ...parseEffort(configured),
    images: (options.image ?? []).map(resolvePath),
    ...parsePrompts(options),
    ...(options.maxBudgetUsd !== undefined && { maxCost: options.maxBudgetUsd }),
    ...parseOption("timeout", () => parseTimeout(options.timeout)),
    ...(options.jsonSchema !== undefined && { schema: readAnswerSchema(options.jsonSchema) }),
    ...(outputLastMessage !== undefined &&
      { lastMessageFile: resolveNewFile("--output-last-message", outputLastMessage) }),
    ...(debugFile !== undefined && { debugFile: resolveNewFile("--debug-file", debugFile) }),
    ...(patch !== undefined && { patch: patch === "-" ? patch : resolveNewFile("--patch", patch) }),
    ...(record !== undefined && { record: resolveRecording(record) }),
    ...(replay !== undefined && { replay: resolveReplay(replay) }),
  };
}

/** Returns the sources of MCP servers if one of their files exists. */
function findServers(
  { options: { mcpConfig = [], bare, env = [] }, directories, project }: ConfiguredRun,
): Pick<RunSettings, "servers"> {
  const files = mcpConfig.map((file) => isJson(file) ? file : resolvePath(file));
  const programs = project?.isTrusted ? project.programs : undefined;
  const own = bare ? undefined : directories;
  const hasServers = files.length > 0 || (own && isFile(getUserServersPath(own))) ||
    (programs && programs.servers.type !== "missing");
  if (!hasServers) return {};
  const passEnvironment = env.filter((variable) => !variable.includes("="));
  return { servers: { files, directories: own, programs, passEnvironment } };
}

/** Returns the formats of input and output. A program that drives a run reads every event. */
function parseFormats(
  { options: { inputFormat, outputFormat }, given }: ConfiguredRun,
): Pick<RunSettings, "inputFormat" | "outputFormat"> {
  if (inputFormat === "text") return { inputFormat, outputFormat };
  if (!given.has("outputFormat") || outputFormat === inputFormat) {
    return { inputFormat, outputFormat: inputFormat };
  }
  throw new UsageError(
    `Invalid value ${JSON.stringify(outputFormat)} for --output-format: must be stream-json`,
    "Omit --output-format: with --input-format stream-json the output is stream-json, too.",
  );
}

/** Returns the calls that need approval, and the network access of commands, which they never have in plan mode. */
function parsePermissions(
  { options, given, parseOption }: ConfiguredRun,
): Pick<RunSettings, "permissionMode" | "net"> {
  const { plan, approveAll } = options;
  const permissionMode = plan ? "plan" : approveAll ? "bypass" : options.permissionMode;
  const net = parseOption("net", () => parseNet(options.net));
  if (permissionMode !== "plan") return { permissionMode, net };
  if (net === "off" || !given.has("net")) return { permissionMode, net: "off" };
  throw new UsageError(
    `Invalid value ${JSON.stringify(options.net)} for --net: commands have no network in plan mode`,
    "Omit --net, or run without plan mode.",
  );
}

/** Splits a list at commas and blanks. */
function splitList(list: string): string[] {
  return list.split(/[\s,]+/).filter((item) => item !== "");
}

/** Returns the effort as a thinking level, unless the source of a model with a level precedes that of the effort. */
function parseEffort(
  { options: { effort, model = "" }, given, settings }: ConfiguredRun,
): Pick<RunSettings, "thinkingLevel"> {
  if (effort === undefined) return {};
  const rank = (option: "effort" | "model") =>
    given.has(option) ? SOURCES.length : SOURCES.indexOf(settings.get(option)?.origin.type);
  if (hasThinkingLevel(model) && rank("model") > rank("effort")) return {};
  return { thinkingLevel: effort === "xhigh" || effort === "max" ? "extra_high" : effort };
}

/** Whether the name of a model ends with a thinking level. */
export function hasThinkingLevel(model: string): boolean {
  return THINKING_LEVELS.some((level) => model.endsWith(`:${level}`));
}

/** The sources of the configuration; later ones precede earlier ones. */
const SOURCES: readonly (ConfigOrigin["type"] | undefined)[] = [
  "user",
  "project",
  "environment",
  "override",
];

function parsePrompts(
  { system, systemFile, appendSystemPrompt }: RunOptions,
): Pick<RunSettings, "systemPrompt" | "appendedPrompt"> {
  const systemPrompt = systemFile === undefined ? system : readPromptFile(systemFile);
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendedPrompt: appendSystemPrompt }),
  };
}

function readPromptFile(path: string): string {
  try {
    return readTextFile(resolvePath(path));
  } catch (error) {
    throw new UsageError(
      `Invalid value ${JSON.stringify(path)} for --system-file: ${getFileProblem(error)}`,
    );
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a duration with a unit, such as `90s` or `1.5h`. */
function parseTimeout(text: string | undefined): Pick<RunSettings, "timeoutMs"> {
  if (text === undefined) return {};
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text) ?? [];
  const timeoutMs = Number(amount) * (UNIT_MS[unit] ?? NaN);
  if (timeoutMs > 0) return { timeoutMs };
  throw new UsageError(
    `Invalid value ${
      JSON.stringify(text)
    } for --timeout: must be a duration such as 90s, 10m or 1h`,
  );
}

function parseModel(name: string): ModelSpec {
  checkThinkingLevel(name);
  try {
    return modelSpec(name);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Checks that what follows the last colon of a model is no misspelt thinking level, which would be part of the name. Names
 * of Ollama have tags there.
 */
function checkThinkingLevel(name: string): void {
  const [, provider = "", suffix = ""] = /^([^/]+)\/.*:([a-z_]+)$/i.exec(name) ?? [];
  if (provider === "ollama" || THINKING_LEVELS.some((level) => level === suffix)) return;
  const suggestion = didYouMean(suffix, THINKING_LEVELS);
  if (suggestion === "") return;
  throw new UsageError(`Unknown thinking level ${JSON.stringify(suffix)} of ${name}${suggestion}`);
}

function parseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text;
  // Without the user name and the password that it may have.
  const shown = JSON.stringify(text.replace(/^(\w+:\/\/)?.*@/s, "$1…@"));
  throw new UsageError(
    `Invalid value ${shown} for --base-url: must be a URL such as https://host/path`,
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

/**
 * Parses `on`, `off`, or hosts separated by commas.
 *
 * @param name Name of the option or command, for the message.
 * @throws {UsageError} If the text is neither.
 */
export function parseNet(text: string, name = "--net"): SandboxNet {
  if (text === "on" || text === "off") return text;
  const hosts = text.split(",").map((host) => host.trim()).filter((host) => host !== "");
  if (hosts.length > 0 && hosts.every(isHost)) return hosts;
  throw new UsageError(
    `Invalid value ${
      JSON.stringify(text)
    } for ${name}: must be on, off or hosts separated by commas`,
  );
}

/** Whether a text is the name of a host, with `*.` for all below it, and no other word for on or off. */
function isHost(text: string): boolean {
  return /^(\*\.)?[a-z\d](?:[\w.-]*[a-z\d])?$/i.test(text) &&
    !/^(on|off|true|false|yes|no|none|all|any|full|\d+)$/i.test(text);
}
