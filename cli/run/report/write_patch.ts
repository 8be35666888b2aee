/**
 * Writing of a patch to a file or standard output.
 *
 * @module
 */

import { CliError } from "../../host/cli_error.ts";
import { ExitCode } from "../../host/exit_code.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import type { Host } from "../../host/host.ts";
import { formatDiffLines } from "../../render/diff_lines.ts";
import { getStyle } from "../../render/style.ts";
import { paintLines } from "../../render/styled_line.ts";

/**
 * Writes a patch to a file, or to standard output for `-`. A file is replaced; a link, a device or a pipe is written to.
 *
 * @throws {CliError} If the file cannot be written.
 */
export async function writePatch(patch: Uint8Array, target: string, host: Host): Promise<void> {
  if (target === "-") return await printPatch(patch, host);
  try {
    if (isFileOrMissing(target)) await replaceFile(target, patch);
    else await Deno.writeFile(target, patch, { create: false });
  } catch (error) {
    const message = `Cannot write the patch to ${target}: ${getFileProblem(error)}`;
    throw new CliError(message, { exitCode: ExitCode.failed });
  }
}

/** Replaces a file atomically. */
async function replaceFile(path: string, content: Uint8Array): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeFile(temporary, content, { createNew: true });
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

/** Whether a path can be replaced: it is a file or missing, and no device, pipe or link. */
function isFileOrMissing(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return true;
  }
}

/** Prints a patch: with colors and without control characters on a terminal, byte for byte otherwise. */
async function printPatch(patch: Uint8Array, { terminal, env }: Host): Promise<void> {
  const { output } = terminal;
  if (!output.isTerminal) return await output.write(patch);
  const diff = new TextDecoder().decode(patch);
  const lines = paintLines(formatDiffLines(diff, getStyle(output, env)));
  if (lines.length > 0) await output.write(`\n${lines.join("\n")}\n`);
}
