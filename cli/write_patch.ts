/**
 * Where a patch goes.
 *
 * @module
 */

import { CliError } from "./cli_error.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { formatDiffLines } from "./render/diff_lines.ts";
import { getStyle } from "./render/style.ts";

/**
 * Writes a patch to a file, as a whole or not at all, or to standard output for `-`.
 *
 * @throws {CliError} When the file cannot be written.
 */
export async function writePatch(patch: Uint8Array, target: string, host: Host): Promise<void> {
  if (target === "-") return await printPatch(patch, host);
  const temporary = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeFile(temporary, patch, { createNew: true });
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    const words = error instanceof Error ? error.message : String(error);
    const message = `The patch could not be written to ${target}: ${words}`;
    throw new CliError(message, { exitCode: ExitCode.failed });
  }
}

/** Programs get the bytes; a person gets colours, and nothing that a terminal would obey. */
export async function printPatch(patch: Uint8Array, { terminal, env }: Host): Promise<void> {
  const { output } = terminal;
  if (!output.isTerminal) return await output.write(patch);
  const lines = formatDiffLines(new TextDecoder().decode(patch), getStyle(output, env));
  if (lines.length > 0) await output.write(`\n${lines.join("\n")}\n`);
}
