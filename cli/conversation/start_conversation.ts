/**
 * The start of a conversation. The prompt is shown before the code of the agent is loaded.
 *
 * @module
 */

import { AbortedError } from "../../src/core/errors/errors.ts";
import { toFlag } from "../command_line/definition.ts";
import { formatConfigProblem } from "../config/config_value.ts";
import { type KeyBindings, resolveKeyBindings } from "../config/key_bindings.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { overrideTerminal } from "../host/override_terminal.ts";
import { attachFiles } from "../run/prompt/attach_files.ts";
import type { ConfiguredRun, RunCommandLine } from "../run/settings/configure_run.ts";
import { addDebugLog, selectSession, startCommand } from "../run/start_command.ts";
import { type ChatOptions, RUN_ONLY_OPTIONS } from "../settings/chat_options.ts";
import { ConversationSignals } from "./core/conversation_signals.ts";
import { openView } from "./open_view.ts";
import { printWarnings } from "./view/print_warnings.ts";

/** Starts a conversation with a first prompt, if there is one; `"demo"` if a user without a model wants to see that. */
export async function startConversation(
  commandLine: RunCommandLine & { readonly options: ChatOptions },
  words: readonly string[],
  systemHost: Host,
): Promise<ExitCode | "demo"> {
  const prompt = words.join(" ").trim();
  checkOptions(commandLine.given, prompt);
  const signals = new ConversationSignals(systemHost);
  const ownHost = { ...systemHost, onStop: signals.onStop };
  using interrupt = new InterruptHandler(ownHost);
  const { signal } = interrupt;
  const started = await startCommand(commandLine, { hasPrompt: true, interrupt, host: ownHost });
  if (started.type === "ended") return started.end;
  const { configured, settings: { cwd }, loadProject } = started;
  const { directories } = configured;
  const session = await selectSession(started.settings, { directories, signal }, started.host);
  if (!session) return interrupt.exitCode ?? ExitCode.interrupted;
  const host = useOneOutput(started.host);
  // `startCommand()` keeps the options of a conversation, which its type does not name.
  const options = configured.options as ChatOptions;
  await using view = await openView(host, {
    options,
    keys: getKeyBindings(configured.settings),
    historyDirectory: session.type === "none" ? undefined : directories?.state,
    onEarlyEnd: () => signals.send("SIGINT"),
  });
  // The user types while the rest is loaded.
  const { converse } = await importLate<typeof import("./converse.ts")>(
    "./converse.ts",
    import.meta.url,
  );
  const [project, input] = await Promise.all([
    loadProject(),
    attachFiles(prompt, {
      cwd,
      images: started.settings.images,
      typed: prompt,
      signal,
      onWarning: (warning) => printWarnings(view, [warning]),
    }).catch((error) => {
      if (error instanceof AbortedError) return undefined;
      throw error;
    }),
  ]);
  // An interrupt has ended the wait for an image.
  if (input === undefined) return interrupt.exitCode ?? ExitCode.interrupted;
  const settings = { ...started.settings, project, session };
  const run = await addDebugLog(
    settings,
    (settings, dependencies) =>
      converse(settings, { ...dependencies, typed: prompt, signals, configured, view }),
  );
  return await interrupt.catchInterruption(() => run(settings, { prompt: input, interrupt, host }));
}

/** Returns the host with all output on standard output, which is the terminal. */
function useOneOutput(host: Host): Host {
  return overrideTerminal(host, { messages: host.terminal.output });
}

/**
 * Returns the keys that the user has configured.
 *
 * @throws {ConfigurationError} If a key has two actions.
 */
function getKeyBindings(settings: ConfiguredRun["settings"]): KeyBindings {
  const { bindings, problems: [problem] } = resolveKeyBindings(settings);
  if (problem) throw new ConfigurationError(formatConfigProblem(problem));
  return bindings;
}

/**
 * Checks the options.
 *
 * @throws {UsageError} If one of them applies only to a run of one prompt, or to a prompt that is missing.
 */
function checkOptions(given: ReadonlySet<string>, prompt: string): void {
  if (prompt === "" && given.has("image")) {
    throw new UsageError(
      "--image needs a prompt, to which it adds the image",
      'Try: swink -i FILE "What is this?"',
    );
  }
  const option = RUN_ONLY_OPTIONS.find((name) => given.has(name));
  if (option === undefined) return;
  throw new UsageError(
    `A conversation has no option ${toFlag(option)}`,
    `It is an option of swink run: swink run ${toFlag(option)} …`,
  );
}
