/**
 * Reads the files of a work tree.
 *
 * @module
 */

import { AgentError } from "../core/errors/errors.ts";
import { readAllBytes } from "../platform/opened_file.ts";
import { readSmallFile } from "../platform/small_file.ts";
import { system } from "../platform/system.ts";
import { openUntrustedFile } from "../platform/untrusted_file.ts";

/** Maximum size of a content. */
export const MAX_CONTENT_BYTES = 100_000_000;

/**
 * Reads a regular file at a canonical path; `undefined` if it cannot be read. A file behind a link, also one that has
 * replaced a directory, is none of the work tree.
 *
 * @throws {AbortedError} When `signal` is aborted.
 */
export async function readTreeFile(
  path: string,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  const small = readSmallFile(path, { verifyPath: true });
  if (small) return small;
  try {
    if (!(await system.lstat(path)).isFile) return undefined;
    await using file = await openUntrustedFile(path);
    const options = { maxBytes: MAX_CONTENT_BYTES, ...(signal && { signal }) };
    return file && await readAllBytes(file, options);
  } catch (error) {
    if (AgentError.is(error)) throw error;
    return undefined;
  }
}
