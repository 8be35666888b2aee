/**
 * `swink run`: a prompt is worked on until it is done.
 *
 * @module
 */

import type { ExitCode } from "../exit_code.ts";
import type { Host } from "../host.ts";
import { InterruptHandler } from "../interrupt.ts";
import { readPrompt } from "../prompt_input.ts";
import { parseRunSettings, type RunFlags } from "./run_settings.ts";

/** Runs a prompt and tells of it. */
export async function run(
  flags: RunFlags,
  words: readonly string[],
  host: Host,
): Promise<ExitCode> {
  const settings = parseRunSettings(flags);
  using interrupt = new InterruptHandler(host);
  const { terminal } = host;
  const [prompt, { runPrompt }] = await Promise.all([
    readPrompt(words, { terminal, signal: interrupt.signal }),
    import("./run_prompt.ts"),
  ]);
  return await runPrompt(settings, { prompt, interrupt, host });
}
