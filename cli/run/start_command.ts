/**
 * The start of a command that runs an agent: its configuration, the questions that precede the run, and its project.
 *
 * @module
 */

// Not mod.ts, which loads all tools.
import { containsHome } from "../../src/tools/sandbox/home_directory.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { getHomeDirectory } from "../host/program_directories.ts";
import { type LoadedProject, loadProject } from "../project/load_project.ts";
import type { SessionQuestionOptions } from "../sessions/choose_session.ts";
import type { SessionChoice } from "../sessions/session_choice.ts";
import { prepareRun, type PrepareRunOptions } from "./prepare_run.ts";
import type { AgentRun } from "./run_prompt.ts";
import { selectTerminal } from "./select_terminal.ts";
import type { ConfiguredRun, RunCommandLine } from "./settings/configure_run.ts";
import type { RunSettings } from "./settings/settings.ts";

/** A command that can run an agent, or how the questions ended. */
export type StartedCommand =
  | {
    readonly type: "ready";
    readonly settings: RunSettings;
    /** Options, directories and project. */
    readonly configured: ConfiguredRun;
    /** The host with the terminal that the options select. */
    readonly host: Host;
    /** Reads the files of the project. */
    readonly loadProject: () => Promise<LoadedProject>;
  }
  | { readonly type: "ended"; readonly end: ExitCode | "demo" };

/**
 * Checks the options, and asks what a user at a terminal must answer before a run: for trust, a model, the home directory.
 *
 * @throws {UsageError} If an option is invalid.
 * @throws {ConfigurationError} If the configuration is invalid, or the user has declined.
 */
export async function startCommand(
  commandLine: RunCommandLine,
  { hasPrompt, interrupt, host: systemHost }: PrepareRunOptions,
): Promise<StartedCommand> {
  const { options } = commandLine;
  const host = selectTerminal(systemHost, options);
  const prepared = await prepareRun(commandLine, { hasPrompt, interrupt, host });
  if (prepared.type === "ended") return prepared;
  const { configured, settings } = prepared;
  const selected = selectTerminal(systemHost, configured.options);
  if (!options.allowHome && containsHome(settings.cwd, selected.env("HOME"))) {
    const { confirmHomeAccess } = await importLate<typeof import("./home_access.ts")>(
      "./home_access.ts",
      import.meta.url,
    );
    await confirmHomeAccess({ cwd: settings.cwd, signal: interrupt.signal }, selected);
  }
  return {
    type: "ready",
    settings,
    configured,
    host: selected,
    loadProject: () => loadProject(configured.project, getHomeDirectory(selected.env)),
  };
}

/** Returns the session of a run, after a question if none is named; `undefined` if the user wants none. */
export async function selectSession(
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

/** Returns a function that logs a run to a file, if the settings name one. */
export async function addDebugLog(
  { debugFile }: Pick<RunSettings, "debugFile">,
  run: AgentRun,
): Promise<AgentRun> {
  if (debugFile === undefined) return run;
  const { logRun } = await importLate<typeof import("./logged_run.ts")>(
    "./logged_run.ts",
    import.meta.url,
  );
  return logRun(debugFile, run);
}
