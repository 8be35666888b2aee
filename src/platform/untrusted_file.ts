/**
 * The one way to read a file that a command, a model or another program could have made.
 *
 * Such a path may be a pipe without a writer, a device without an end, a link to a key, or change while it is read. A
 * read therefore never blocks, ends at a size limit, follows no link out of a directory, and can be aborted.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { AgentError, getErrorMessage } from "../core/errors/errors.ts";
import { getBuiltinModule } from "./builtin_modules.ts";
import { getDescriptorPath } from "./descriptor_path.ts";
import type { FileStatus } from "./file_calls.ts";
import { fromFileHandle, fromSystemFile, type OpenedFile, readAllBytes } from "./opened_file.ts";
import { getRelativePath } from "./paths.ts";
import { hasStartedPrograms } from "./started_programs.ts";
import { isDeno, system } from "./system.ts";
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
    await using file = await openUntrustedFile(canonical);
    if (!file) return { type: "refused", reason: "changed while it was opened" };
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
 * Opens a canonical path whose entry is a regular file, without following a link; `undefined` when another entry has
 * replaced the file, or a link one of its directories.
 *
 * Once a program runs that an agent controls, a pipe without a writer may replace the file between a check and the
 * opening, which only a flag of `node:fs` does not wait for. Before that, Deno opens the file: loading `node:fs` takes 25 ms
 * and 10 MB.
 */
export async function openUntrustedFile(canonical: string): Promise<OpenedFile | undefined> {
  const isRaceFree = isDeno && system.build.os !== "windows" && !hasStartedPrograms();
  return isRaceFree ? await openWithSystem(canonical) : await openWithoutWaiting(canonical);
}

async function openWithSystem(canonical: string): Promise<OpenedFile | undefined> {
  const file = await system.open(canonical);
  try {
    const status = file.statSync();
    if (status.isFile && await isAtPath(status, canonical)) {
      return fromSystemFile(canonical, status.size, file);
    }
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return undefined;
}

async function openWithoutWaiting(canonical: string): Promise<OpenedFile | undefined> {
  const handle = await getBuiltinModule("node:fs").promises.open(canonical, getReadFlags());
  try {
    const status = await handle.stat();
    if (status.isFile() && await isUnchanged(handle, canonical)) {
      return fromFileHandle(canonical, status.size, handle);
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/** Returns the flags of `open()` that refuse a link, do not wait, and do not take over a terminal. */
export function getReadFlags(): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = getBuiltinModule("node:fs").constants;
  return O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
}

/** Whether an opened file is at its canonical path: a directory may have been replaced by a link. */
async function isUnchanged(handle: FileHandle, canonical: string): Promise<boolean> {
  const actual = getDescriptorPath(handle.fd);
  if (actual !== undefined) return actual === canonical;
  return await isAtPath(await handle.stat(), canonical);
}

/** Whether a file with a status is at a canonical path. */
async function isAtPath(
  { ino, dev }: Pick<FileStatus, "ino" | "dev">,
  canonical: string,
): Promise<boolean> {
  const current = await system.lstat(canonical);
  return current.ino === ino && current.dev === dev &&
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
