/**
 * `swink chat`, for which `swink` is short: a conversation at the terminal.
 *
 * @module
 */

import { type CommandDefinition, defineCommand } from "../command_line/definition.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { CHAT_OPTIONS } from "../settings/chat_options.ts";
import { showChosenDemo } from "./demo.ts";
import { loadRunCommand } from "./run.ts";

/** `swink chat`. */
export const chat = defineCommand({
  name: "chat",
  summary: "Starts a conversation at the terminal; swink alone is short for it",
  details:
    "Where standard input or output is no terminal, it is swink run, with all of its options.",
  arguments: [{
    name: "prompt",
    description: "The first prompt; several words are joined with spaces.",
    optional: true,
    variadic: true,
  }],
  options: CHAT_OPTIONS,
  examples: [
    ["swink", "starts a conversation"],
    ['swink "Explain this project"', "begins with a prompt"],
    ["swink -c", "continues the last conversation of the directory"],
  ],
  exitCodes: [
    ExitCode.ok,
    ExitCode.usage,
    ExitCode.configuration,
    ExitCode.hangUp,
    ExitCode.quit,
    ExitCode.terminated,
  ],
  preload: () =>
    Promise.all([
      loadConversation(),
      importLate<typeof import("../conversation/live/open_live_view.ts")>(
        "../conversation/live/open_live_view.ts",
        import.meta.url,
      ),
    ]),
  async action({ options, given, arguments: words, program }, host) {
    checkFirstWord(words, program);
    const start = isInteractive(host)
      ? (await loadConversation()).startConversation
      : (await loadRunCommand()).runCommand;
    return await showChosenDemo(await start({ options, given }, words, host), host);
  },
});

function loadConversation(): Promise<typeof import("../conversation/start_conversation.ts")> {
  return importLate("../conversation/start_conversation.ts", import.meta.url);
}

/** Whether a user can have a conversation: standard input and output are a terminal. */
function isInteractive({ terminal: { input, output } }: Pick<Host, "terminal">): boolean {
  return input.isTerminal && output.isTerminal;
}

/**
 * Checks that the prompt does not begin with the name of a command that was probably meant.
 *
 * @throws {UsageError} If it does.
 */
function checkFirstWord(
  words: readonly string[],
  { commands = [], name }: CommandDefinition,
): void {
  const [first = ""] = words;
  if (words.length < 2 || !commands.some((command) => command.name === first)) return;
  throw new UsageError(
    `The command ${first} is not the first word`,
    `Write ${name} ${first} …, or the prompt in quotes: ${name} ${JSON.stringify(words.join(" "))}`,
  );
}
