/**
 * `swink run`: runs one prompt until the task is done.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { EXIT_CODES } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";
import { RUN_OPTIONS } from "../settings/run_options.ts";
import { showChosenDemo } from "./demo.ts";

/** `swink run`. */
export const run = defineCommand({
  name: "run",
  summary: "Runs one prompt until the task is done",
  details: "Piped input is added to the prompt; the argument - waits for it.",
  arguments: [{
    name: "prompt",
    description: "The prompt; several words are joined with spaces.",
    optional: true,
    variadic: true,
  }],
  options: {
    ...RUN_OPTIONS,
    print: {
      short: "p",
      type: "boolean",
      description: "Has no effect: run always prints the answer and exits.",
      hidden: true,
    },
  },
  examples: [
    ['swink run -m openai/gpt-6.2-sol "Fix the failing test"', "selects a model"],
    ['git diff | swink run "Review this change"', "adds input to the prompt"],
    ['swink run --approve-all --patch fix.patch "Fix issue 12"', "writes the change as a patch"],
  ],
  environment: [
    ["ANTHROPIC_API_KEY", "key for Anthropic; base URL in ANTHROPIC_BASE_URL"],
    [
      "OPENAI_API_KEY",
      "key for OpenAI or any OpenAI-compatible server; base URL in OPENAI_BASE_URL",
    ],
    ["SWINK_MODEL", "model when -m is missing"],
    ["NO_COLOR", "disables colors; FORCE_COLOR overrides it"],
  ],
  exitCodes: EXIT_CODES.map(([code]) => code),
  preload: loadRunCommand,
  async action({ options, given, arguments: words }, host) {
    const { runCommand } = await loadRunCommand();
    return await showChosenDemo(await runCommand({ options, given }, words, host), host);
  },
});

/** Imports the action of `swink run`, which `swink chat` runs, too, where there is no terminal. */
export function loadRunCommand(): Promise<typeof import("../run/run_command.ts")> {
  return importLate("../run/run_command.ts", import.meta.url);
}
