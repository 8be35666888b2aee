/**
 * The program behind `main()`: runs a command line and turns every failure into a message and an exit code.
 *
 * @module
 */

import { parseCommandLine } from "./command_line/parser.ts";
import { PROGRAM } from "./commands/table.ts";
import { CliError } from "./host/cli_error.ts";
import { ExitCode } from "./host/exit_code.ts";
import type { Host } from "./host/host.ts";
import { importLate } from "./host/import_late.ts";
import { toPlainText } from "./render/plain_text.ts";
import { getStyle } from "./render/style.ts";

/** Begins an error. */
const LABEL = "swink:";

/** Runs a command line. Never rejects. */
export async function runCommandLine(args: readonly string[], host: Host): Promise<ExitCode> {
  try {
    preloadCommand(args);
    const { command, path, ...invocation } = await parseCommandLine(PROGRAM, args);
    const isHelp = invocation.options.help === true;
    const exitCode = isHelp ? undefined : await command.action?.(invocation, host);
    if (exitCode !== undefined) return exitCode;
    const { formatHelp } = await importLate<typeof import("./command_line/help.ts")>(
      "./command_line/help.ts",
      import.meta.url,
    );
    await host.terminal.output.write(formatHelp({ command, path }, host));
    return ExitCode.ok;
  } catch (thrown) {
    const error = getFirstError(thrown);
    await printError(error, host);
    return error instanceof CliError ? error.exitCode : ExitCode.failed;
  }
}

/**
 * Starts to import the modules of a command before the command line is parsed. In parallel, both take a quarter less
 * time than in sequence.
 */
function preloadCommand(args: readonly string[]): void {
  if (args.includes("--help")) return;
  const { commands = [], shorthands = {}, defaultCommand = "" } = PROGRAM;
  const names = [...args.map((arg) => shorthands[arg] ?? arg), defaultCommand];
  const command = names.map((name) => commands.find((candidate) => candidate.name === name))
    .find((candidate) => candidate !== undefined);
  // A failed import is repeated, and reported, by the action.
  command?.preload?.().catch(() => {});
}

/** Runs as a helper process of a compiled program, which the first argument selects. Never returns. */
export async function runHelper([helper, ...args]: readonly string[]): Promise<never> {
  if (helper === "--swink-worker") {
    const { runWorkerProcess } = await importLate<
      typeof import("../src/tools/process/run_worker_process.ts")
    >("../src/tools/process/run_worker_process.ts", import.meta.url);
    return await runWorkerProcess();
  }
  const { confinedExecMain } = await importLate<
    typeof import("../src/tools/confinement/confined_exec.ts")
  >("../src/tools/confinement/confined_exec.ts", import.meta.url);
  return confinedExecMain(args);
}

/** Returns the error that ended the command, without those of its cleanup. */
function getFirstError(error: unknown): unknown {
  return error instanceof SuppressedError ? getFirstError(error.suppressed) : error;
}

async function printError(error: unknown, host: Host): Promise<void> {
  const { messages, columns } = host.terminal;
  const style = getStyle(messages, host.env);
  const message = error instanceof Error ? error.message : String(error);
  const advice = error instanceof CliError && error.advice !== "" ? `${error.advice}\n` : "";
  const text = toPlainText(`${LABEL} ${message}\n${advice}`);
  const shown = messages.isTerminal ? await wrapWords(text, columns).catch(() => text) : text;
  await messages.write(style.error(LABEL) + shown.slice(LABEL.length)).catch(() => {});
}

/** Breaks rows between words. The module is loaded here, since a start without an error needs none of it. */
async function wrapWords(text: string, columns: number): Promise<string> {
  const { WordWrap } = await importLate<typeof import("./render/word_wrap.ts")>(
    "./render/word_wrap.ts",
    import.meta.url,
  );
  const wrap = new WordWrap(() => columns);
  return wrap.push(text) + wrap.flush();
}
