/**
 * The action of `swink run`.
 *
 * @module
 */

// Not mod.ts, which loads all tools.
import { containsHome } from "../../src/tools/sandbox/home_directory.ts";
import type { PromptInput } from "../../mod.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import type { RunOptions } from "../settings/run_options.ts";
import type { RunCommandLine } from "./configure_run.ts";
import { loadProject } from "../project/load_project.ts";
import { prepareRun } from "./prepare_run.ts";
import { readPrompt } from "./prompt_input.ts";
import type { AttachmentOptions } from "./attachments.ts";
import { runPrompt } from "./run_prompt.ts";
import type { SessionQuestionOptions } from "../sessions/choose_session.ts";
import type { SessionChoice } from "../sessions/session_choice.ts";
import type { ProjectRunSettings, RunSettings } from "./settings.ts";

// The agent loads these modules when it is used; with the others they take half the time.
import "../../src/agent/run_code.ts";
import "../../src/loop/run_turns.ts";

/** Returns the host with the environment of a terminal that only writes lines, or with other colors, if requested. */
function selectHost(host: Host, { plain, color }: Pick<RunOptions, "plain" | "color">): Host {
  const changes: Readonly<Record<string, string>> = {
    ...(plain && { TERM: "dumb", FORCE_COLOR: "" }),
    ...(color === "always" && { FORCE_COLOR: "1" }),
    ...(color === "never" && { FORCE_COLOR: "", NO_COLOR: "1" }),
  };
  return { ...host, env: (name) => changes[name] ?? host.env(name) };
}

/** Adds the files that the prompt and the options name. */
async function attachFiles(prompt: string, options: AttachmentOptions): Promise<PromptInput> {
  if (options.images.length === 0 && !options.typed.includes("@")) return prompt;
  const { addAttachments } = await importLate<typeof import("./attachments.ts")>(
    "./attachments.ts",
    import.meta.url,
  );
  return await addAttachments(prompt, options);
}

/** Returns the session of a run, after a question if none is named; `undefined` if the user wants none. */
async function selectSession(
  { session, cwd }: RunSettings,
  options: Pick<SessionQuestionOptions, "directories" | "signal">,
  host: Host,
): Promise<SessionChoice | undefined> {
  if (session.type !== "asked") return session;
  const { chooseSession } = await importLate<typeof import("../sessions/choose_session.ts")>(
    "../sessions/choose_session.ts",
    import.meta.url,
  );
  const id = await chooseSession({ cwd: await Deno.realPath(cwd), ...options }, host);
  return id === undefined ? undefined : { type: "existing", id, fork: session.fork };
}

async function loadDryRun(): Promise<typeof runPrompt> {
  const { runDry } = await importLate<typeof import("./dry_run.ts")>(
    "./dry_run.ts",
    import.meta.url,
  );
  return runDry;
}

/** Returns a function that logs a run to a file, if the settings name one. */
async function addDebugLog(
  { debugFile }: ProjectRunSettings,
  run: typeof runPrompt,
): Promise<typeof runPrompt> {
  if (debugFile === undefined) return run;
  const { logRun } = await importLate<typeof import("./logged_run.ts")>(
    "./logged_run.ts",
    import.meta.url,
  );
  return logRun(debugFile, run);
}

/** Checks the options, reads the prompt and runs it; `"demo"` if a user without a model wants to see that instead. */
export async function runCommand(
  commandLine: RunCommandLine,
  words: readonly string[],
  systemHost: Host,
): Promise<ExitCode | "demo"> {
  using interrupt = new InterruptHandler(systemHost);
  const { signal } = interrupt;
  const { options } = commandLine;
  const prepared = await prepareRun(commandLine, {
    hasPrompt: words.length > 0 || !systemHost.terminal.input.isTerminal,
    interrupt,
    host: selectHost(systemHost, options),
  });
  if (prepared.type === "ended") return prepared.end;
  const { configured, settings } = prepared;
  const host = selectHost(systemHost, configured.options);
  const { terminal } = host;
  if (!options.allowHome && containsHome(settings.cwd, host.env("HOME"))) {
    const { confirmHomeAccess } = await importLate<typeof import("./home_access.ts")>(
      "./home_access.ts",
      import.meta.url,
    );
    await confirmHomeAccess({ cwd: settings.cwd, signal }, host);
  }
  const [prompt, project] = await Promise.all([
    settings.inputFormat === "text" ? readPrompt(words, { terminal, signal }) : words.join(" "),
    loadProject(configured.project, host.env("HOME") || host.env("USERPROFILE")),
  ]);
  const session = await selectSession(
    settings,
    { directories: configured.directories, signal },
    host,
  );
  if (!session) return interrupt.exitCode ?? ExitCode.interrupted;
  const input = await attachFiles(prompt, { ...settings, typed: words.join(" "), signal });
  const run = { ...settings, project, session };
  const start = await addDebugLog(run, options.dryRun ? await loadDryRun() : runPrompt);
  try {
    return await start(run, { prompt: input, interrupt, host });
  } catch (error) {
    // A key command that was interrupted is no error of the configuration.
    const { exitCode } = interrupt;
    if (error instanceof ConfigurationError && exitCode !== undefined) return exitCode;
    throw error;
  }
}
