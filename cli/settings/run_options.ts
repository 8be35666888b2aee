/**
 * Options of the commands that run an agent.
 *
 * @module
 */

import type { OptionDefinitions, OptionValues } from "../command_line/definition.ts";
import { PLAN_PATH } from "../host/plan_path.ts";

/** Default models in order of preference. */
export const DEFAULT_MODELS = ["anthropic/claude-sonnet-5-5", "openai/gpt-6.2-sol"] as const;

/** Options that select the model. */
export const MODEL_OPTIONS = {
  model: {
    short: "m",
    type: "string",
    value: "model",
    description: "Model, as provider/model or provider/model:thinking.",
    completer: "models",
    configuration: "any",
  },
  effort: {
    type: "string",
    value: "level",
    description: "Amount of thinking; xhigh and max are short for extra_high.",
    choices: ["off", "minimal", "low", "medium", "high", "extra_high", "xhigh", "max"],
    configuration: "any",
  },
  fallbackModel: {
    type: "string",
    value: "models",
    description: "Models that continue when the model fails, separated by commas.",
    repeatable: true,
    configuration: "any",
  },
  baseUrl: {
    type: "string",
    value: "url",
    description: "Base URL of the provider's API.",
  },
} as const satisfies OptionDefinitions;

/** Options that set up the agent and its working directory. */
export const AGENT_OPTIONS = {
  system: {
    type: "string",
    value: "text",
    description: "System prompt that replaces the default one.",
    conflicts: ["systemFile"],
    configuration: "any",
  },
  systemFile: {
    type: "file",
    value: "file",
    description: "File with the system prompt.",
    conflicts: ["system"],
  },
  appendSystemPrompt: {
    type: "string",
    value: "text",
    description: "Text that is added to the system prompt.",
    configuration: "any",
  },
  cwd: {
    type: "directory",
    value: "directory",
    description: "Working directory. Default: the current one.",
  },
  maxTurns: {
    type: "integer",
    value: "count",
    description: "Maximum number of turns: replies of the model, with their tool calls.",
    minimum: 1,
    default: 100,
    configuration: "any",
  },
  maxBudgetUsd: {
    type: "number",
    value: "dollars",
    description: "Maximum cost; a request that could exceed it is not sent.",
    minimum: 0,
    configuration: "user",
  },
  timeout: {
    type: "string",
    value: "duration",
    description: "Maximum duration of the run, such as 90s, 10m or 1h.",
    configuration: "user",
  },
} as const satisfies OptionDefinitions;

/** Options that add to the prompt. */
const PROMPT_OPTIONS = {
  image: {
    short: "i",
    type: "file",
    value: "file",
    description: "Adds an image to the prompt.",
    repeatable: true,
  },
} as const satisfies OptionDefinitions;

/** Options for the output of a run. */
export const OUTPUT_OPTIONS = {
  inputFormat: {
    type: "string",
    value: "format",
    description:
      "Format of standard input; with stream-json a program drives the run with lines of JSON.",
    choices: ["text", "stream-json"],
    default: "text",
    conflicts: ["patch", "image", "dryRun"],
  },
  outputFormat: {
    short: "o",
    type: "string",
    value: "format",
    description:
      "Format of standard output; json is one object at the end, stream-json one line per event.",
    choices: ["text", "json", "stream-json"],
    default: "text",
    synonyms: { "--json": "-o json", "--format": "--output-format", "--mode": "--output-format" },
  },
  jsonSchema: {
    type: "file",
    value: "schema",
    description: "JSON Schema that the answer must match, as a file or as JSON.",
    aliases: ["--output-schema"],
  },
  outputLastMessage: {
    type: "file",
    value: "file",
    description: "Writes the text of the last reply to a file.",
  },
  patch: {
    type: "file",
    value: "file",
    description: "Writes the changes of the run as a patch for git apply; - is standard output.",
  },
  debugFile: {
    type: "file",
    value: "file",
    description: "Appends settings, requests and events with their times to a file, without keys.",
  },
} as const satisfies OptionDefinitions;

/** Options for the amount and the form of the text of a run. */
export const DISPLAY_OPTIONS = {
  quiet: {
    short: "q",
    type: "boolean",
    description: "Writes the answer only.",
    conflicts: ["verbose"],
  },
  verbose: {
    short: "v",
    type: "boolean",
    description: "Also writes the output of tools and the diffs of changes.",
    conflicts: ["quiet"],
  },
  color: {
    type: "string",
    value: "when",
    description: "Whether output is colored.",
    choices: ["auto", "always", "never"],
    default: "auto",
    configuration: "user",
  },
  plain: {
    type: "boolean",
    description: "Writes plain lines: no colors, no status, no cursor movement.",
    configuration: "user",
  },
} as const satisfies OptionDefinitions;

/** Options that record the requests to the model, or replay a recording. */
export const RECORDING_OPTIONS = {
  record: {
    type: "file",
    value: "file",
    description: "Records all model requests and responses, for --replay.",
    conflicts: ["replay"],
  },
  replay: {
    type: "file",
    value: "file",
    description: "Answers model requests from a recording, without network and key.",
    conflicts: ["record"],
  },
} as const satisfies OptionDefinitions;

/** Options that show what a run would do. */
const INSPECTION_OPTIONS = {
  dryRun: {
    type: "boolean",
    description: "Prints the first request, its size and the most it can cost; sends nothing.",
    conflicts: ["continue", "resume", "sessionId", "record", "replay", "patch"],
  },
} as const satisfies OptionDefinitions;

/** Options that restrict and approve tool calls. */
export const PERMISSION_OPTIONS = {
  tools: {
    type: "string",
    value: "names",
    description: "The only tools of the run, separated by commas.",
    repeatable: true,
    configuration: "user",
  },
  allowedTools: {
    type: "string",
    value: "rules",
    description:
      "Tools that need no approval, separated by commas. A pattern such as bash(deno test *) approves only matching calls.",
    repeatable: true,
    configuration: "user",
  },
  disallowedTools: {
    type: "string",
    value: "rules",
    description: "Tools to remove, or calls to forbid, separated by commas.",
    repeatable: true,
    configuration: "any",
  },
  permissionMode: {
    type: "string",
    value: "mode",
    description:
      `Which calls need approval: default, all that change files or run commands; acceptEdits, only commands; bypass, none. With plan, the model changes nothing, and writes a plan to ${PLAN_PATH}.`,
    choices: ["default", "acceptEdits", "plan", "bypass"],
    synonyms: {
      "--approval-mode": "--permission-mode",
      "--ask-for-approval": "--permission-mode default",
    },
    default: "default",
    configuration: "user",
  },
  plan: {
    type: "boolean",
    description: `Changes nothing, and writes a plan to ${PLAN_PATH}: --permission-mode plan.`,
    conflicts: ["permissionMode"],
  },
  approveAll: {
    type: "boolean",
    description: "Runs every tool call without asking: --permission-mode bypass.",
    synonyms: {
      "--yolo": "--approve-all",
      "-y": "--approve-all",
      "--yes": "--approve-all",
      "--full-auto": "--approve-all",
      "--dangerously-skip-permissions": "--approve-all",
      "--dangerously-bypass-approvals-and-sandbox": "--approve-all",
    },
    conflicts: ["permissionMode", "plan"],
  },
  addDir: {
    type: "directory",
    value: "directory",
    description: "Another directory in which the tools may read and write.",
    repeatable: true,
    configuration: "user",
  },
  allowHome: {
    type: "boolean",
    description: "Allows a working directory that contains the home directory.",
  },
  net: {
    type: "string",
    value: "access",
    description: "Network access of commands: off, on, or hosts separated by commas.",
    default: "off",
    configuration: "user",
  },
  env: {
    type: "string",
    value: "variable",
    description:
      "Passes an environment variable to commands, as NAME=VALUE, or as NAME with the value of this process.",
    repeatable: true,
    configuration: "user",
  },
  sandbox: {
    type: "string",
    value: "mode",
    description:
      "Confinement of commands: auto as far as the kernel can, required to run none without it, off for none.",
    choices: ["auto", "required", "off"],
    default: "auto",
    configuration: "user",
  },
} as const satisfies OptionDefinitions;

/** Options that add tools. */
export const SERVER_OPTIONS = {
  mcpConfig: {
    type: "file",
    value: "file",
    description: "File with MCP servers, in addition to those of the user and the project.",
    repeatable: true,
  },
} as const satisfies OptionDefinitions;

/** Options that select the session. */
const SESSION_OPTIONS = {
  continue: {
    short: "c",
    type: "boolean",
    description: "Continues the last session of the directory.",
    conflicts: ["resume", "sessionId", "noSession"],
  },
  resume: {
    short: "r",
    type: "string",
    value: "id",
    optionalValue: true,
    description:
      "Continues a session; the beginning of its id is enough. Without an id, asks which one.",
    completer: "sessions list --limit 50",
    conflicts: ["sessionId", "noSession"],
  },
  fork: {
    type: "boolean",
    description: "Continues in a copy of the session, which stays unchanged.",
  },
  sessionId: {
    type: "string",
    value: "id",
    description: "Id of the session, which is created if it does not exist.",
    conflicts: ["noSession"],
  },
  noSession: { type: "boolean", description: "Does not save the run as a session." },
} as const satisfies OptionDefinitions;

/** Options that select the configuration and the files of the project. */
export const CONFIGURATION_OPTIONS = {
  config: {
    type: "string",
    value: "setting",
    description: "Sets a key of the configuration, as key=value.",
    repeatable: true,
  },
  strictConfig: {
    type: "boolean",
    description: "Rejects a configuration with unknown keys.",
  },
  trust: {
    type: "boolean",
    description: "Loads the instructions and the configuration of the project without asking.",
  },
  bare: {
    type: "boolean",
    description: "Loads no configuration file and no file of the project.",
    conflicts: ["trust"],
  },
} as const satisfies OptionDefinitions;

/** The options of `swink run`. */
export const RUN_OPTIONS = {
  ...MODEL_OPTIONS,
  ...AGENT_OPTIONS,
  ...PROMPT_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...DISPLAY_OPTIONS,
  ...RECORDING_OPTIONS,
  ...INSPECTION_OPTIONS,
  ...PERMISSION_OPTIONS,
  ...SERVER_OPTIONS,
  ...SESSION_OPTIONS,
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDefinitions;

/** The values of the options of `swink run`. */
export type RunOptions = OptionValues<typeof RUN_OPTIONS>;

/** Format of standard output. */
export type OutputFormat = RunOptions["outputFormat"];
