/**
 * The action of `swink run`.
 *
 * @module
 */

// Not mod.ts, which loads all tools.
import { containsHome } from "../../src/tools/sandbox/home_directory.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import type { RunOptions } from "./options.ts";
import { readPrompt } from "./prompt_input.ts";
import { runPrompt } from "./run_prompt.ts";
import { parseRunSettings } from "./settings.ts";

// The agent loads these modules when it is used; with the others they take half the time.
import "../../src/agent/run_code.ts";
import "../../src/loop/run_turns.ts";

/** The environment of a terminal that only writes lines. */
function toPlainHost(host: Host): Host {
  const plain: Readonly<Record<string, string>> = { TERM: "dumb", FORCE_COLOR: "" };
  return { ...host, env: (name) => plain[name] ?? host.env(name) };
}

/** Checks the options, reads the prompt and runs it. */
export async function runCommand(
  options: RunOptions,
  words: readonly string[],
  systemHost: Host,
): Promise<ExitCode> {
  const settings = parseRunSettings(options);
  const host = settings.plain ? toPlainHost(systemHost) : systemHost;
  using interrupt = new InterruptHandler(host);
  const { terminal } = host;
  const { signal } = interrupt;
  if (!options.allowHome && containsHome(settings.cwd, host.env("HOME"))) {
    const { confirmHomeAccess } = await importLate<typeof import("./home_access.ts")>(
      "./home_access.ts",
      import.meta.url,
    );
    await confirmHomeAccess({ cwd: settings.cwd, signal }, host);
  }
  const prompt = await readPrompt(words, { terminal, signal });
  return await runPrompt(settings, { prompt, interrupt, host });
}
