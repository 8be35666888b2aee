/**
 * The action of `swink run`.
 *
 * @module
 */

import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { isStandardInput } from "../host/read_text_file.ts";
import { toPlainText } from "../render/plain_text.ts";
import type { RunOptions } from "../settings/run_options.ts";
import { attachFiles } from "./prompt/attach_files.ts";
import { readPrompt } from "./prompt/prompt_input.ts";
import { type AgentRun, runPrompt } from "./run_prompt.ts";
import type { RunCommandLine } from "./settings/configure_run.ts";
import { addDebugLog, selectSession, startCommand } from "./start_command.ts";

// The agent loads these modules when it is used; with the others they take half the time.
import "../../src/agent/run_code.ts";
import "../../src/loop/run_turns.ts";

async function loadDryRun(): Promise<AgentRun> {
  const { runDry } = await importLate<typeof import("./dry_run.ts")>(
    "./dry_run.ts",
    import.meta.url,
  );
  return runDry;
}

/** Checks the options, reads the prompt and runs it; `"demo"` if a user without a model wants to see that instead. */
export async function runCommand(
  commandLine: RunCommandLine,
  words: readonly string[],
  systemHost: Host,
): Promise<ExitCode | "demo"> {
  using interrupt = new InterruptHandler(systemHost);
  const { signal } = interrupt;
  const hasPrompt = words.length > 0 || !systemHost.terminal.input.isTerminal;
  const started = await startCommand(commandLine, { hasPrompt, interrupt, host: systemHost });
  if (started.type === "ended") return started.end;
  const { settings, configured: { directories }, host } = started;
  const { resume, dryRun } = commandLine.options;
  const [prompt, project] = await Promise.all([
    settings.inputFormat === "text"
      ? readPrompt(words, {
        terminal: host.terminal,
        signal,
        isInputTaken: isInputTaken(commandLine.options),
        resumedId: resume === true ? undefined : resume,
      })
      : words.join(" "),
    started.loadProject(),
  ]);
  const session = await selectSession(settings, { directories, signal }, host);
  if (!session) return interrupt.exitCode ?? ExitCode.interrupted;
  const run = await addDebugLog(
    settings,
    dryRun ? await loadDryRun() : runPrompt,
  );
  return await interrupt.catchInterruption(async () => {
    const input = await attachFiles(prompt, {
      ...settings,
      typed: words.join(" "),
      signal,
      onWarning: (warning) => host.terminal.messages.write(`warning: ${toPlainText(warning)}\n`),
    });
    return await run({ ...settings, project, session }, { prompt: input, interrupt, host });
  });
}

/** Whether standard input is the file of an option. */
function isInputTaken(
  { image = [], systemFile = "", jsonSchema = "", mcpConfig = [] }: RunOptions,
): boolean {
  return [...image, systemFile, jsonSchema, ...mcpConfig].some(isStandardInput);
}
