/**
 * The `swink` program: an agent for the command line.
 *
 * ```sh
 * deno run -qA --no-config jsr:@swink/agent/cli run "Make the tests pass"
 * ```
 *
 * `docs/cli.md` describes its commands, options and exit codes. As a library, {@linkcode main} runs a command line on a
 * {@linkcode Host}: terminal, environment, signals and `fetch`. It returns the exit code and never exits the process.
 *
 * @module
 */

import { describeOldDeno } from "./host/deno_version.ts";
import { createDenoHost, type Host } from "./host/host.ts";
import { VERSION } from "./host/version.ts";

export type { Host, StopSignal } from "./host/host.ts";
export type { Input, Output, RawModeOptions, Terminal } from "./host/terminal.ts";

/**
 * Runs the program. Never rejects and never exits.
 *
 * @param args The command line, without the name of the program.
 * @param host Terminal, environment, signals and network. Default: those of this process.
 * @returns The exit code; `swink run --help` lists them.
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
      // The program below tries again and reports the failure.
    }
  }
  try {
    const { runCommandLine } = await loadProgram();
    return await runCommandLine(args, host);
  } catch (error) {
    await host.terminal.messages.write(`swink: ${describeLoadFailure(error)}\n`).catch(() => {});
    return 3;
  }
}

/** Describes why the program could not be loaded. The error of an import that lacks a permission has no class of its own. */
function describeLoadFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/^Requires [\w-]+ access/.test(message)) return message;
  return `The program could not be loaded: ${message}`;
}

/** The rest of the program, `program.ts`. A reference to its type would have Deno download all sources with the package. */
interface Program {
  runCommandLine(args: readonly string[], host: Host): Promise<number>;
  runHelper(args: readonly string[]): Promise<never>;
}

/**
 * Imports the rest of the program: of the published package its bundle (`scripts/jsr`), which takes a quarter of the time,
 * else the sources. Deno loads modules with a literal specifier before it runs anything, which makes `--version` 50 %
 * slower, so these are computed. `scripts/compile` finds the file for `deno compile`.
 */
async function loadProgram(): Promise<Program> {
  const bundle = new URL("./bundle/program.js", import.meta.url);
  const sources = new URL("./program.ts", import.meta.url);
  try {
    return await import(bundle.href);
  } catch (error) {
    // That a registry cannot be reached is a failure of its own; the sources are not there either.
    if (bundle.protocol !== "file:" && !isMissingModule(error)) throw error;
    return await import(sources.href);
  }
}

function isMissingModule(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Module not found");
}

/**
 * First arguments of the helper processes of a compiled program: one confines and executes a command in the sandbox, one
 * runs a worker that can be ended at any time.
 */
const HELPER_ARGUMENTS = ["--swink-confined-exec", "--swink-worker"];

if (import.meta.main) {
  const problem = describeOldDeno(Deno.version.deno);
  if (problem !== undefined) {
    await createDenoHost().terminal.messages.write(`swink: ${problem}\n`);
    Deno.exit(3);
  }
  if (HELPER_ARGUMENTS.includes(Deno.args[0] ?? "")) {
    await (await loadProgram()).runHelper(Deno.args);
  }
  Deno.exit(await main(Deno.args));
}
