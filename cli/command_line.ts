/**
 * From a command line to an exit code: every failure becomes words on standard error and a code.
 *
 * @module
 */

import { CliError } from "./cli_error.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { toPlainText } from "./render/plain_text.ts";
import { getStyle } from "./render/style.ts";

/** Runs a command line; never rejects. */
export async function runCommandLine(args: readonly string[], host: Host): Promise<ExitCode> {
  try {
    preloadRun(args);
    const { readCommand } = await import("./command.ts");
    const command = await readCommand(args);
    return await command(host);
  } catch (error) {
    await printError(error, host);
    return error instanceof CliError ? error.exitCode : ExitCode.failed;
  }
}

/**
 * Begins to load what a run needs, beside what reads the command line: side by side they take a quarter less than one
 * after the other.
 */
function preloadRun(args: readonly string[]): void {
  const isRun = args.some((arg) => arg === "run" || arg === "-p" || arg === "--print");
  // Whoever needs it imports it again, and is told then if it cannot be.
  if (isRun && !args.includes("--help")) import("./commands/run_prompt.ts").catch(() => {});
}

/** Does what the sandbox of a compiled program asks its helper process for; never returns. */
export async function runConfinedExec([_helper, ...args]: readonly string[]): Promise<never> {
  const { confinedExecMain } = await import("../src/tools/confinement/confined_exec.ts");
  return confinedExecMain(args);
}

async function printError(error: unknown, host: Host): Promise<void> {
  const { messages } = host.terminal;
  const style = getStyle(messages, host.env);
  const message = toPlainText(error instanceof Error ? error.message : String(error));
  const advice = error instanceof CliError && error.advice !== "" ? `${error.advice}\n` : "";
  await messages.write(`${style.error("swink:")} ${message}\n${advice}`).catch(() => {});
}
