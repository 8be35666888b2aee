/**
 * The part of `swink run` that imports the agent, loaded while the command line and standard input are read.
 *
 * @module
 */

import type { Agent, PromptInput } from "../../mod.ts";
import type { ExitCode } from "../host/exit_code.ts";
import { runHeadless } from "./headless_run.ts";
import { startHooks } from "../hooks/start_hooks.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { createNoHomeError, getProgramDirectories } from "../host/program_directories.ts";
import { NewSession } from "../sessions/new_session.ts";
import type { RunSession } from "../sessions/run_session.ts";
import type { SessionChoice } from "../sessions/session_choice.ts";
import { openConnection } from "./model_connection.ts";
import type { DrivenRun } from "./driven_run.ts";
import { type AgentSetup, setUpAgent } from "./setup_agent.ts";
import type { ProjectRunSettings } from "./settings.ts";

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

/** Runs a prompt with the given settings. */
export async function runPrompt(
  settings: ProjectRunSettings,
  dependencies: RunDependencies,
): Promise<ExitCode> {
  const { host } = dependencies;
  const loading = loadSessions(settings.session);
  await using connection = await openConnection(settings, host);
  const { today } = connection;
  const { promise: firstRequest, resolve: onRequest } = Promise.withResolvers<void>();
  const fetch: Host["fetch"] = (...request) => {
    const response = connection.fetch(...request);
    onRequest();
    return response;
  };
  const { signal } = dependencies.interrupt;
  await using hooks = await startHooks({ ...settings, signal }, host);
  const driver = await loadDriver(settings);
  const prompt = driver ? dependencies.prompt : await hooks.submit(dependencies.prompt);
  await using session = await openSession(settings, loading, host);
  const model = settings.isModelGiven ? settings.model : session?.model ?? settings.model;
  await using setup = await setUpAgent({
    ...settings,
    ...hooks,
    ...(model && { model }),
    continuesPlan: session?.planMode,
    ask: driver?.ask,
    today,
    signal,
  }, { ...host, fetch });
  dependencies.onAgent?.(setup.agent);
  await session?.attach(setup.agent);
  // The session has restored its own model and thinking level.
  if (session?.model) setup.agent.setModel(setup.model);
  // Options of the run replace the mode of the session.
  if (settings.permissionMode !== "plan") setup.planMode?.turnOff(setup.agent);
  dependencies.interrupt.beforeExit(() => setup[Symbol.asyncDispose]());
  if (settings.sandbox === "required") await requireConfinement(setup);
  const createReporter = async () => {
    const { createReporter } = await importLate<typeof import("./run_reporter.ts")>(
      "./run_reporter.ts",
      import.meta.url,
    );
    return createReporter(settings, host, setup.agent.state.tools);
  };
  const run = {
    ...settings,
    ...dependencies,
    prompt,
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

type SessionModule = typeof import("../sessions/open_session.ts");

/** Starts to import the modules of sessions if the run continues one. */
function loadSessions({ type }: SessionChoice): Promise<SessionModule> | undefined {
  if (type === "none" || type === "new") return undefined;
  const loading = importLate<SessionModule>("../sessions/open_session.ts", import.meta.url);
  // The failure is reported where the module is used.
  loading.catch(() => {});
  return loading;
}

/** Opens the session of a run; `undefined` if it is not saved. */
async function openSession(
  { session, cwd }: ProjectRunSettings,
  loading: Promise<SessionModule> | undefined,
  { env }: Pick<Host, "env">,
): Promise<RunSession | undefined> {
  if (session.type === "none") return undefined;
  const directories = getProgramDirectories(env);
  if (session.type === "new") return directories && new NewSession({ cwd, directories });
  if (!directories) throw createNoHomeError("sessions");
  return await (await loading)?.openRunSession(session, { cwd, directories });
}

/** Throws if the kernel does not enforce all rules for commands. */
async function requireConfinement(setup: AgentSetup): Promise<void> {
  const { createConfinementWarning } = await import("./confinement_warning.ts");
  createConfinementWarning("required", await setup.describeSandbox());
}
