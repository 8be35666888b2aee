/**
 * The action of `swink run`.
 *
 * @module
 */

// Not mod.ts, which loads all tools.
import { containsHome } from "../../src/tools/sandbox/home_directory.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { configureRun, type RunCommandLine } from "./configure_run.ts";
import { loadProject } from "../project/load_project.ts";
import { readPrompt } from "./prompt_input.ts";
import { runPrompt } from "./run_prompt.ts";
import { parseRunSettings } from "./settings.ts";

// The agent loads these modules when it is used; with the others they take half the time.
import "../../src/agent/run_code.ts";
import "../../src/loop/run_turns.ts";

/** Returns the host, for plain output with the environment of a terminal that only writes lines. */
function selectHost(host: Host, isPlain: boolean): Host {
  if (!isPlain) return host;
  const plain: Readonly<Record<string, string>> = { TERM: "dumb", FORCE_COLOR: "" };
  return { ...host, env: (name) => plain[name] ?? host.env(name) };
}

/** Checks the options, reads the prompt and runs it. */
export async function runCommand(
  commandLine: RunCommandLine,
  words: readonly string[],
  systemHost: Host,
): Promise<ExitCode> {
  using interrupt = new InterruptHandler(systemHost);
  const { signal } = interrupt;
  const { plain, allowHome } = commandLine.options;
  const configured = await configureRun(commandLine, signal, selectHost(systemHost, plain));
  const settings = parseRunSettings(configured);
  const host = selectHost(systemHost, settings.plain);
  const { terminal } = host;
  if (!allowHome && containsHome(settings.cwd, host.env("HOME"))) {
    const { confirmHomeAccess } = await importLate<typeof import("./home_access.ts")>(
      "./home_access.ts",
      import.meta.url,
    );
    await confirmHomeAccess({ cwd: settings.cwd, signal }, host);
  }
  const [prompt, project] = await Promise.all([
    readPrompt(words, { terminal, signal }),
    loadProject(configured.project),
  ]);
  try {
    return await runPrompt({ ...settings, project }, { prompt, interrupt, host });
  } catch (error) {
    // A key command that was interrupted is no error of the configuration.
    if (error instanceof ConfigurationError && interrupt.exitCode) return interrupt.exitCode;
    throw error;
  }
}
