/**
 * The file in which a shell leaves its final working directory.
 *
 * @module
 */

import { dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { readUntrustedText } from "../../platform/untrusted_file.ts";

/** Maximum size of the file with a working directory. */
const MAX_DIRECTORY_BYTES = 16_384;

/** Reads and removes the file with the final working directory of a shell; `undefined` unless it is a directory. */
export async function readWorkingDirectory(file: string): Promise<string | undefined> {
  const options = { within: dirname(file), maxBytes: MAX_DIRECTORY_BYTES };
  const directory = (await readUntrustedText(file, options))?.replace(/\n$/, "");
  try {
    await system.remove(file, { recursive: true });
    return directory && (await system.stat(directory)).isDirectory ? directory : undefined;
  } catch {
    return undefined;
  }
}
