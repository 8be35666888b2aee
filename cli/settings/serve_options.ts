/**
 * Options of `swink serve`.
 *
 * @module
 */

import type { OptionDefinitions, OptionValues } from "../command_line/definition.ts";
import {
  AGENT_OPTIONS,
  CONFIGURATION_OPTIONS,
  DISPLAY_OPTIONS,
  MODEL_OPTIONS,
  PERMISSION_OPTIONS,
  RECORDING_OPTIONS,
  SERVER_OPTIONS,
} from "./run_options.ts";

/** Options for the server itself. */
const LISTEN_OPTIONS = {
  host: {
    type: "string",
    value: "address",
    description: "Address to listen on. One that other machines can reach requires --token-file.",
    default: "127.0.0.1",
  },
  port: {
    type: "integer",
    value: "number",
    description: "Port to listen on; 0 is any free one.",
    minimum: 0,
    default: 8787,
  },
  tokenFile: {
    type: "file",
    value: "file",
    description:
      "File with the tokens of clients: one a line, with a tenant after it if it has one. Default: prints a new token.",
  },
  allowedHost: {
    type: "string",
    value: "name",
    description:
      "Host name by which clients may reach the server, such as that of a reverse proxy.",
    repeatable: true,
  },
  allowedOrigin: {
    type: "string",
    value: "origin",
    description: "Origin of a web page that may call the server, such as https://app.example.com.",
    repeatable: true,
  },
  maxRuns: {
    type: "integer",
    value: "count",
    description: "Maximum number of runs of a tenant at the same time.",
    minimum: 1,
    default: 20,
  },
  shutdownTimeout: {
    type: "integer",
    value: "seconds",
    description: "Time that active runs have to end after a signal, before they are stopped.",
    minimum: 0,
    default: 30,
  },
} as const satisfies OptionDefinitions;

/** The options of `swink serve`. */
export const SERVE_OPTIONS = {
  ...LISTEN_OPTIONS,
  ...MODEL_OPTIONS,
  ...AGENT_OPTIONS,
  maxBudgetUsd: {
    ...AGENT_OPTIONS.maxBudgetUsd,
    description:
      "Maximum cost of all runs of a tenant; a request that could exceed it is not sent.",
  },
  timeout: {
    ...AGENT_OPTIONS.timeout,
    description: "Maximum duration of each run, such as 90s, 10m or 1h.",
  },
  color: DISPLAY_OPTIONS.color,
  plain: DISPLAY_OPTIONS.plain,
  ...RECORDING_OPTIONS,
  ...PERMISSION_OPTIONS,
  ...SERVER_OPTIONS,
  ...CONFIGURATION_OPTIONS,
} as const satisfies OptionDefinitions;

/** The values of the options of `swink serve`. */
export type ServeOptions = OptionValues<typeof SERVE_OPTIONS>;
