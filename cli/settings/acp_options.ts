/**
 * Options of `swink acp`.
 *
 * @module
 */

import type { OptionDefinitions, OptionValues } from "../command_line/definition.ts";
import {
  AGENT_OPTIONS,
  CONFIGURATION_OPTIONS,
  MODEL_OPTIONS,
  OUTPUT_OPTIONS,
  PERMISSION_OPTIONS,
  RECORDING_OPTIONS,
  SERVER_OPTIONS,
} from "./run_options.ts";

// The client names the working directory of each session.
const { cwd: _cwd, ...SESSION_AGENT_OPTIONS } = AGENT_OPTIONS;

/** The options of `swink acp`: those of `swink run` that apply to every session. */
export const ACP_OPTIONS = {
  ...MODEL_OPTIONS,
  ...SESSION_AGENT_OPTIONS,
  debugFile: OUTPUT_OPTIONS.debugFile,
  ...RECORDING_OPTIONS,
  ...PERMISSION_OPTIONS,
  ...SERVER_OPTIONS,
  noSession: { type: "boolean", description: "Does not save the sessions." },
  ...CONFIGURATION_OPTIONS,
  draftProtocol: {
    type: "boolean",
    description: "Also serves the draft of version 2 of the protocol, which still changes.",
  },
  login: {
    type: "boolean",
    description: "Asks for a model and its key at the terminal, and exits; editors call it.",
  },
} as const satisfies OptionDefinitions;

/** The values of the options of `swink acp`. */
export type AcpOptions = OptionValues<typeof ACP_OPTIONS>;
