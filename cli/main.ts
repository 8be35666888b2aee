/**
 * The `swink` program: an agent at the command line.
 *
 * ```sh
 * deno run -A jsr:@swink/agent/cli run "Make the tests pass"
 * ```
 *
 * @module
 */

import { createDenoHost, type Host } from "./host.ts";
import { VERSION } from "./version.ts";

export type { Host, StopSignal } from "./host.ts";
export type { Input, Output, Terminal } from "./terminal.ts";

/**
 * Runs the program.
 *
 * @param args The command line, without the name of the program.
 * @param host The machine to run on. Default: this process.
 * @returns What to exit with; `swink --help` lists the codes.
 *
 * @example
 * ```ts
 * import { main } from "@swink/agent/cli";
 *
 * const exitCode = await main(["--version"]); // prints the version, 0
 * ```
 */
export async function main(
  args: readonly string[],
  host: Host = createDenoHost(),
): Promise<number> {
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    try {
      await host.terminal.output.write(`${VERSION}\n`);
      return 0;
    } catch {
      // The rest of the program fails at it as well, and has words for it.
    }
  }
  const { runCommandLine } = await loadCommandLine();
  return await runCommandLine(args, host);
}

/**
 * Imports the rest of the program. The specifier is not a literal: Deno reads whatever a literal one names before it
 * runs anything, which makes `--version` half as slow again. `deno compile` is told of the file by `--include`.
 */
async function loadCommandLine(): Promise<typeof import("./command_line.ts")> {
  const module = new URL("./command_line.ts", import.meta.url);
  return await import(module.href);
}

/** A compiled program is asked by its own sandbox, under this name, to confine itself and become a command. */
const HELPER_ARGUMENT = "--swink-confined-exec";

if (import.meta.main) {
  if (Deno.args[0] === HELPER_ARGUMENT) await (await loadCommandLine()).runConfinedExec(Deno.args);
  Deno.exit(await main(Deno.args));
}
