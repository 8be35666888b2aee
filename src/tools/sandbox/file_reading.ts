/**
 * Faster and streaming reads for the local sandbox, with a fallback for other implementations of `SandboxFiles`.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { IgnoreRules } from "../../core/ignore/git_ignore.ts";
import { BufferedFile, type OpenedFile } from "../../platform/opened_file.ts";
import { quotePath } from "../files/file_error.ts";
import { ConfinedFiles, type WalkedReadOptions } from "./confined_files.ts";
import type { SandboxFiles } from "./sandbox_files.ts";

/** Maximum size of a file that is read from a sandbox that cannot stream files. */
const MAX_BUFFERED_BYTES = 100_000_000;

/** Opens a regular file for reading. @throws {BadRequestError} When that is not possible. */
export async function openFile(files: SandboxFiles, path: string): Promise<OpenedFile> {
  if (files instanceof ConfinedFiles) return await files.open(path);
  const bytes = await files.readIfExists(path, { maxBytes: MAX_BUFFERED_BYTES });
  if (!bytes) throw new BadRequestError(`${quotePath(path)} does not exist`);
  return new BufferedFile(await files.resolve(path, "read"), bytes);
}

/**
 * Reads a file from a directory listing; `undefined` when it is too large, missing or not a regular file.
 *
 * The local sandbox does not check the path again, and a directory in it may have been replaced by a link: read the
 * file again with `readIfExists()` before showing its content.
 */
export function readWalkedFile(
  files: SandboxFiles,
  path: string,
  options: WalkedReadOptions,
): Uint8Array | undefined | Promise<Uint8Array | undefined> {
  if (files instanceof ConfinedFiles) return files.readWalked(path, options);
  return files.readIfExists(path, { maxBytes: options.maxBytes }).catch(() => undefined);
}

/**
 * Reads a file with all checks, into `buffer` if it fits; `undefined` when it cannot be read, or is too large.
 */
export async function readCheckedFile(
  files: SandboxFiles,
  path: string,
  { buffer, ...options }: WalkedReadOptions & { readonly signal: AbortSignal },
): Promise<Uint8Array | undefined> {
  const read = files instanceof ConfinedFiles
    ? files.readIfExists(path, { ...options, buffer })
    : files.readIfExists(path, options);
  return await read.catch(() => undefined);
}

/** Reads the ignore rules that the root inherits from its parent directories; none unless the sandbox is local. */
export async function readParentIgnoreRules(files: SandboxFiles): Promise<readonly IgnoreRules[]> {
  return files instanceof ConfinedFiles ? await files.readParentIgnoreRules() : [];
}
