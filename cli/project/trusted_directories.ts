/**
 * The directories whose instructions, configuration and programs the user allows to be loaded.
 *
 * The file has one path per line, as a JSON string, and is only appended to: programs that add a path at the same time
 * lose none.
 *
 * @module
 */

import { dirname, join } from "../../src/platform/paths.ts";
import { readUntrustedText } from "../../src/platform/untrusted_file.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";

const MAX_FILE_BYTES = 1_000_000;

function getFile({ state }: ProgramDirectories): string {
  return join(state, "trusted_directories");
}

/** Whether the user trusts a directory, or one above it. `path` is absolute and without links. */
export async function isTrusted(path: string, directories: ProgramDirectories): Promise<boolean> {
  const file = getFile(directories);
  const text = await readUntrustedText(file, { within: dirname(file), maxBytes: MAX_FILE_BYTES });
  const trusted = new Set(text?.split("\n").map(parseLine));
  for (let directory = path;; directory = dirname(directory)) {
    if (trusted.has(directory)) return true;
    if (dirname(directory) === directory) return false;
  }
}

/** A line that another program has cut or changed is no path. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Adds a directory; those below it are trusted, too. `path` is absolute and without links. */
export async function trustDirectory(path: string, directories: ProgramDirectories): Promise<void> {
  const file = getFile(directories);
  await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(file, `${JSON.stringify(path)}\n`, { append: true, mode: 0o600 });
}
