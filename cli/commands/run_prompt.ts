/**
 * The part of `swink run` that needs the agent; it is loaded while the command line and the input are read.
 *
 * @module
 */

import type { ExitCode } from "../exit_code.ts";
import { runHeadless } from "../headless_run.ts";
import type { Host } from "../host.ts";
import type { InterruptHandler } from "../interrupt.ts";
import { openConnection } from "../model_connection.ts";
import { setUpAgent } from "../setup_agent.ts";
import { createReporter } from "./run_reporter.ts";
import type { RunSettings } from "./run_settings.ts";

/** What there is besides the settings. */
export interface RunDependencies {
  /** The prompt. */
  readonly prompt: string;
  /** Stops the run. */
  readonly interrupt: InterruptHandler;
  /** Where it happens. */
  readonly host: Host;
}

/** Works on a prompt as the settings say. */
export async function runPrompt(settings: RunSettings, place: RunDependencies): Promise<ExitCode> {
  const { host } = place;
  await using connection = await openConnection(settings, host);
  const { fetch, today } = connection;
  await using setup = setUpAgent({ ...settings, today }, { ...host, fetch });
  const reporter = createReporter(settings, host);
  return await runHeadless({ ...settings, ...place, setup, reporter });
}
