/**
 * The part of `swink run` that imports the agent, loaded while the command line and standard input are read.
 *
 * @module
 */

import type { ExitCode } from "../host/exit_code.ts";
import { runHeadless } from "./headless_run.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { openConnection } from "./model_connection.ts";
import { type AgentSetup, setUpAgent } from "./setup_agent.ts";
import type { ProjectRunSettings } from "./settings.ts";

/** Dependencies of `runPrompt()`. */
export interface RunDependencies {
  /** The prompt. */
  readonly prompt: string;
  /** Aborts the run. */
  readonly interrupt: InterruptHandler;
  /** Terminal, environment, signals and network. */
  readonly host: Host;
}

/** Runs a prompt with the given settings. */
export async function runPrompt(
  settings: ProjectRunSettings,
  dependencies: RunDependencies,
): Promise<ExitCode> {
  const { host } = dependencies;
  await using connection = await openConnection(settings, host);
  const { today } = connection;
  const { promise: firstRequest, resolve: onRequest } = Promise.withResolvers<void>();
  const fetch: Host["fetch"] = (...request) => {
    const response = connection.fetch(...request);
    onRequest();
    return response;
  };
  const { signal } = dependencies.interrupt;
  await using setup = await setUpAgent({ ...settings, today, signal }, { ...host, fetch });
  dependencies.interrupt.beforeExit(() => setup[Symbol.asyncDispose]());
  if (settings.sandbox === "required") await requireConfinement(setup);
  const createReporter = async () => {
    const { createReporter } = await importLate<typeof import("./run_reporter.ts")>(
      "./run_reporter.ts",
      import.meta.url,
    );
    return createReporter(settings, host, setup.agent.state.tools);
  };
  return await runHeadless({ ...settings, ...dependencies, setup, createReporter, firstRequest });
}

/** Throws if the kernel does not enforce all rules for commands. */
async function requireConfinement(setup: AgentSetup): Promise<void> {
  const { createConfinementWarning } = await import("./confinement_warning.ts");
  createConfinementWarning("required", await setup.describeSandbox());
}
