/**
 * The one way to read a file that a command, a model or another program could have made.
 *
 * Such a path may be a pipe without a writer, a device without an end, a link to a key, or change while it is read. A
 * read therefore never blocks, ends at a size limit, follows no link out of a directory, and can be aborted.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { AgentError, getErrorMessage } from "../core/errors.ts";
import { getBuiltinModule } from "./builtin_modules.ts";
import { getDescriptorPath } from "./descriptor_path.ts";
import type { FileStatus } from "./file_calls.ts";
import { NodeOpenedFile, readAllBytes } from "./opened_file.ts";
import { getRelativePath } from "./paths.ts";
import { system } from "./system.ts";
import { getSystemErrorCode } from "./system_error.ts";
import type { UntrustedRead } from "./untrusted_read.ts";

/** Options for {@linkcode readUntrustedFile}. */
export interface UntrustedReadOptions {
  /** Directory that the file must be in after all links are followed. */
  readonly within: string;
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Aborts the read with an `AbortedError`. */
  readonly signal?: AbortSignal | undefined;
}

/** Reads a regular file. @throws {AbortedError} When `signal` is aborted. */
export async function readUntrustedFile(
  path: string,
  { within, maxBytes, signal }: UntrustedReadOptions,
): Promise<UntrustedRead> {
  try {
    const canonical = await system.realPath(path);
    if (getRelativePath(await system.realPath(within), canonical) === undefined) {
      return { type: "refused", reason: "is a link to a file outside of its directory" };
    }
    const kind = describeSpecialFile(await system.lstat(canonical));
    if (kind) return { type: "refused", reason: `is ${kind}, not a regular file` };
    const handle = await openUntrustedFile(canonical);
    await using file = new NodeOpenedFile(canonical, (await handle.stat()).size, handle);
    if (!(await isUnchanged(handle, canonical))) {
      return { type: "refused", reason: "changed while it was opened" };
    }
    const bytes = await readAllBytes(file, { maxBytes, ...(signal && { signal }) });
    if (bytes) return { type: "content", bytes };
    return { type: "refused", reason: `is larger than ${maxBytes} bytes` };
  } catch (error) {
    if (AgentError.is(error)) throw error;
    if (["ENOENT", "ENOTDIR"].includes(getSystemErrorCode(error) ?? "")) return { type: "missing" };
    return { type: "refused", reason: `cannot be read: ${getErrorMessage(error)}` };
  }
}

/** Reads a regular file as UTF-8; `undefined` if it is missing or refused. @throws {AbortedError} On an abort. */
export async function readUntrustedText(
  path: string,
  options: UntrustedReadOptions,
): Promise<string | undefined> {
  const read = await readUntrustedFile(path, options);
  return read.type === "content" ? new TextDecoder().decode(read.bytes) : undefined;
}

/**
 * Opens a canonical path for reading, without following a link and without waiting for the writer of a pipe that has
 * replaced the file. The caller checks the kind of the opened file, and its place with {@linkcode isUnchanged}.
 */
export async function openUntrustedFile(canonical: string): Promise<FileHandle> {
  return await getBuiltinModule("node:fs").promises.open(canonical, getReadFlags());
}

/** Returns the flags of `open()` that refuse a link, do not wait, and do not take over a terminal. */
export function getReadFlags(): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = getBuiltinModule("node:fs").constants;
  return O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
}

/** Whether an opened file is a regular file at its canonical path: a directory may have been replaced by a link. */
export async function isUnchanged(handle: FileHandle, canonical: string): Promise<boolean> {
  const opened = await handle.stat();
  if (!opened.isFile()) return false;
  const actual = getDescriptorPath(handle.fd);
  if (actual !== undefined) return actual === canonical;
  const current = await system.lstat(canonical);
  return current.ino === opened.ino && current.dev === opened.dev &&
    await system.realPath(canonical) === canonical;
}

/** Names the kind of an entry that is not a regular file; `undefined` for a regular file. */
export function describeSpecialFile(status: FileStatus): string | undefined {
  if (status.isFile) return undefined;
  if (status.isDirectory) return "a directory";
  if (status.isSymlink) return "a symbolic link";
  if (status.isFifo) return "a named pipe";
  if (status.isSocket) return "a socket";
  if (status.isCharDevice || status.isBlockDevice) return "a device";
  return "a special file";
}
