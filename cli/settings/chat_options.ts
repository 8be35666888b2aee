/**
 * Options of conversations.
 *
 * @module
 */

import type {
  OptionDefinition,
  OptionDefinitions,
  OptionValues,
} from "../command_line/definition.ts";
import { RUN_OPTIONS, type RunOptions } from "./run_options.ts";

/** Options for the form of a conversation. */
export const CONVERSATION_OPTIONS = {
  theme: {
    type: "string",
    value: "name",
    description: "Colors of the output.",
    choices: ["dark", "light", "high_contrast", "mono"],
    default: "dark",
    configuration: "user",
  },
  vi: {
    type: "boolean",
    description: "Keys of vi in the input line, with normal, insert and command mode.",
    configuration: "user",
  },
  notify: {
    type: "string",
    value: "way",
    description:
      "How the end of a long run and a question are reported: a message of the terminal (OSC 9), its bell, or not at all.",
    choices: ["osc9", "bell", "off"],
    default: "off",
    configuration: "user",
  },
} as const satisfies OptionDefinitions;

/** The options of `swink run` that a conversation does not have. */
export const RUN_ONLY_OPTIONS = [
  "inputFormat",
  "outputFormat",
  "jsonSchema",
  "outputLastMessage",
  "patch",
  "quiet",
  "dryRun",
] as const satisfies readonly (keyof typeof RUN_OPTIONS)[];

/** The options of `swink chat`. Those that only a run has apply where there is no terminal. */
export const CHAT_OPTIONS: typeof RUN_OPTIONS & typeof CONVERSATION_OPTIONS = {
  ...hideRunOptions(),
  ...CONVERSATION_OPTIONS,
};

/** The values of the options of `swink chat`. */
export type ChatOptions = RunOptions & OptionValues<typeof CONVERSATION_OPTIONS>;

function hideRunOptions(): typeof RUN_OPTIONS {
  const names: readonly string[] = RUN_ONLY_OPTIONS;
  const entries = Object.entries<OptionDefinition>(RUN_OPTIONS).map(([name, option]) =>
    names.includes(name) ? [name, { ...option, hidden: true }] : [name, option]
  );
  return Object.fromEntries(entries);
}
