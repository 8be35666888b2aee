/**
 * `swink run`: a prompt is worked on until it is done.
 *
 * @module
 */

import type { ExitCode } from "../exit_code.ts";
import type { Host } from "../host.ts";
import { Interrupt } from "../interrupt.ts";
import { openConnection } from "../model_connection.ts";
import { readPrompt } from "../prompt_input.ts";
import { type RunFlags, runSettings } from "./run_settings.ts";

/** Runs a prompt and tells of it. */
export async function run(
  flags: RunFlags,
  words: readonly string[],
  host: Host,
): Promise<ExitCode> {
  const settings = runSettings(flags);
  using interrupt = new Interrupt(host);
  const { terminal } = host;
  await using connection = await openConnection(settings, host);
  const { fetch, today } = connection;
  // Standard input gets its chance while the agent is loaded.
  const [prompt, { headlessRun }, { setUpAgent }, { reporterFor }] = await Promise.all([
    readPrompt(words, { terminal, signal: interrupt.signal }),
    import("../headless_run.ts"),
    import("../setup_agent.ts"),
    import("./run_reporter.ts"),
  ]);
  await using setup = setUpAgent({ ...settings, today }, { ...host, fetch });
  const reporter = reporterFor(settings, host);
  return await headlessRun({ ...settings, prompt, setup, reporter, interrupt, host });
}
