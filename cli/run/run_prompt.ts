/**
 * The part of `swink run` that imports the agent, loaded while the command line and standard input are read.
 *
 * @module
 */

import { createConfinementWarning } from "./confinement_warning.ts";
import type { ExitCode } from "../host/exit_code.ts";
import { runHeadless } from "./headless_run.ts";
import type { Host } from "../host/host.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { openConnection } from "./model_connection.ts";
import { type AgentSetup, setUpAgent } from "./setup_agent.ts";
import { createReporter } from "./run_reporter.ts";
import type { RunSettings } from "./settings.ts";
import { getStyle } from "../render/style.ts";

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
  settings: RunSettings,
  dependencies: RunDependencies,
): Promise<ExitCode> {
  const { host } = dependencies;
  await using connection = await openConnection(settings, host);
  const { fetch, today } = connection;
  await using setup = setUpAgent({ ...settings, today }, { ...host, fetch });
  // Unless confinement is required, the kernel is probed while the model answers.
  const warning = writeConfinementWarning(settings, { setup, host });
  if (settings.sandbox === "required") await warning;
  const reporter = createReporter(settings, host);
  const exitCode = await runHeadless({ ...settings, ...dependencies, setup, reporter });
  await warning;
  return exitCode;
}

async function writeConfinementWarning(
  { sandbox }: RunSettings,
  { setup, host: { terminal, env } }: { readonly setup: AgentSetup; readonly host: Host },
): Promise<void> {
  if (sandbox === "off") return;
  const warning = createConfinementWarning(sandbox, await setup.describeSandbox());
  if (warning === undefined) return;
  await terminal.messages.write(`${getStyle(terminal.messages, env).warning(warning)}\n`);
}
