/**
 * The part of `swink run` that imports the agent, loaded while the command line and standard input are read.
 *
 * @module
 */

import type { Agent, PromptInput } from "../../mod.ts";
import { startHooks } from "../hooks/start_hooks.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { loadSessions, openAgent } from "./agent/open_agent.ts";
import type { DrivenRun } from "./driven_run.ts";
import { observeFirstRequest } from "./first_request.ts";
import { runHeadless } from "./headless_run.ts";
import { openConnection } from "./model/model_connection.ts";
import type { ProjectRunSettings } from "./settings/settings.ts";

/** Dependencies of `runPrompt()`. */
export interface RunDependencies {
  /** The prompt. */
  readonly prompt: PromptInput;
  /** Aborts the run. */
  readonly interrupt: InterruptHandler;
  /** Terminal, environment, signals and network. */
  readonly host: Host;
  /** Called with the agent before it runs. */
  readonly onAgent?: (agent: Agent) => void;
}

/** Runs an agent with settings. */
export type AgentRun = (
  settings: ProjectRunSettings,
  dependencies: RunDependencies,
) => Promise<ExitCode>;

/** Runs a prompt with the given settings. */
export async function runPrompt(
  settings: ProjectRunSettings,
  dependencies: RunDependencies,
): Promise<ExitCode> {
  const { host, interrupt } = dependencies;
  const sessions = loadSessions(settings.session);
  const hasOnePrompt = settings.inputFormat === "text";
  await using connection = await openConnection({ ...settings, hasOnePrompt }, host);
  const { fetch, firstRequest } = observeFirstRequest(connection.fetch);
  await using hooks = await startHooks({
    ...settings,
    hasOnePrompt,
    signal: interrupt.signal,
    beforeExit: (cleanUp) => interrupt.beforeExit(cleanUp),
  }, host);
  const driver = await loadDriver(settings);
  const prompt = driver ? dependencies.prompt : await hooks.submit(dependencies.prompt);
  await using opened = await openAgent(settings, {
    ...dependencies,
    hooks,
    sessions,
    ask: driver?.ask,
    today: connection.today,
    host: { ...host, fetch },
  });
  const { setup, session } = opened;
  const createReporter = async () => {
    const { createReporter } = await importLate<typeof import("./report/run_output.ts")>(
      "./report/run_output.ts",
      import.meta.url,
    );
    return createReporter(settings, host, setup.agent.state.tools);
  };
  const run = {
    ...settings,
    ...dependencies,
    prompt,
    // The run takes them before its start is reported.
    waiting: setup.agent.queued,
    hooks,
    setup,
    session,
    createReporter,
    firstRequest,
  };
  return driver ? await driver.run({ ...run, submit: hooks.submit }) : await runHeadless(run);
}

/** Loads the code for a program that drives the run, if there is one. */
async function loadDriver(
  { inputFormat }: Pick<ProjectRunSettings, "inputFormat">,
): Promise<DrivenRun | undefined> {
  if (inputFormat === "text") return undefined;
  const { DrivenRun } = await importLate<typeof import("./driven_run.ts")>(
    "./driven_run.ts",
    import.meta.url,
  );
  return new DrivenRun();
}
