/**
 * The action of `swink`: starts a conversation at a terminal, and a run of one prompt elsewhere.
 *
 * @module
 */

import { toFlag } from "../command_line/definition.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import type { RunCommandLine } from "../run/configure_run.ts";
import { attachFiles, runCommand } from "../run/run_command.ts";
import { addDebugLog, selectSession, startCommand } from "../run/start_command.ts";
import { type ChatOptions, RUN_ONLY_OPTIONS } from "../settings/chat_options.ts";
import { ConversationSignals } from "./core/conversation_signals.ts";
import { converse } from "./converse.ts";

/** Whether a user can have a conversation: standard input and output are a terminal. */
export function isInteractive({ terminal: { input, output } }: Pick<Host, "terminal">): boolean {
  return input.isTerminal && output.isTerminal;
}

/** Starts a conversation with a first prompt, if there is one; `"demo"` if a user without a model wants to see that. */
export async function startConversation(
  commandLine: RunCommandLine & { readonly options: ChatOptions },
  words: readonly string[],
  systemHost: Host,
): Promise<ExitCode | "demo"> {
  if (!isInteractive(systemHost)) return await runCommand(commandLine, words, systemHost);
  refuseRunOptions(commandLine.given);
  const signals = new ConversationSignals(systemHost);
  const host = { ...systemHost, onStop: signals.onStop };
  using interrupt = new InterruptHandler(host);
  const started = await startCommand(commandLine, { hasPrompt: true, interrupt, host });
  if (started.type === "ended") return started.end;
  const { settings, configured } = started;
  const prompt = words.join(" ").trim();
  const { signal } = interrupt;
  const [project, input] = await Promise.all([
    started.loadProject(),
    attachFiles(prompt, { ...settings, typed: prompt, signal }),
  ]);
  const { directories } = configured;
  const session = await selectSession(settings, { directories, signal }, started.host);
  if (!session) return interrupt.exitCode ?? ExitCode.interrupted;
  // The configuration applies to all options of the command.
  const options = configured.options as ChatOptions;
  const run = await addDebugLog(
    settings,
    (settings, dependencies) =>
      converse(settings, { ...dependencies, signals, configured, options }),
  );
  return await run({ ...settings, project, session }, {
    prompt: input,
    interrupt,
    host: started.host,
  });
}

/**
 * Refuses options that apply only to a run of one prompt.
 *
 * @throws {UsageError} If one of them occurs.
 */
function refuseRunOptions(given: ReadonlySet<string>): void {
  const option = RUN_ONLY_OPTIONS.find((name) => given.has(name));
  if (option === undefined) return;
  throw new UsageError(
    `A conversation has no option ${toFlag(option)}`,
    `It is an option of swink run: swink run ${toFlag(option)} …`,
  );
}
