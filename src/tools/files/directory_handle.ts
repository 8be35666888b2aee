/**
 * Open directory handles: a file is written into the directory that was checked, even if its path is replaced.
 *
 * On Linux the directory is addressed through its open descriptor (`/proc/self/fd/N`), which a swapped link cannot
 * redirect. On other systems, and without permission for `/proc`, the path is checked before and after each use.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { BadRequestError } from "../../core/errors/errors.ts";
import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import { getDescriptorPath } from "../../platform/descriptor_path.ts";
import type { NamedEntry } from "../../platform/file_calls.ts";
import { basename, dirname, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode, isMissingPermission } from "../../platform/system_error.ts";
import { quotePath } from "./file_error.ts";

/** A file to write. */
export interface NewFile {
  /** Content. */
  readonly bytes: Uint8Array;
  /** Permission bits. Default: 0o666 without the bits of the umask. */
  readonly mode?: number | undefined;
  /** Owner to set; ignored without the right to change owners. */
  readonly owner?: undefined | { readonly uid: number | null; readonly gid: number | null };
}

/** An open directory. */
export interface DirectoryHandle extends AsyncDisposable {
  /** Creates or replaces a file atomically: readers see the old content or the new one. */
  replaceFile(name: string, file: NewFile): Promise<void>;
  /** Removes a file. */
  removeFile(name: string): Promise<void>;
  /** Lists the entries. */
  entries(): Promise<readonly NamedEntry[]>;
}

/**
 * Opens a canonical directory.
 *
 * @param options `create` makes missing directories.
 * @throws {BadRequestError} When the path is no longer canonical.
 */
export async function openDirectoryHandle(
  directory: string,
  options: { readonly create: boolean },
): Promise<DirectoryHandle> {
  const missing: string[] = [];
  let existing = directory;
  while (options.create && !(await exists(existing)) && dirname(existing) !== existing) {
    missing.push(basename(existing));
    existing = dirname(existing);
  }
  let opened = await openDirectory(existing, existing);
  for (const name of missing.reverse()) opened = await openSubdirectory(opened, name);
  return new LocalDirectoryHandle(opened);
}

interface OpenDirectory {
  /** Canonical path. */
  readonly path: string;
  /** Path to pass to the operating system: through the descriptor where possible. */
  readonly accessPath: string;
  readonly handle?: FileHandle;
}

async function openDirectory(path: string, accessPath: string): Promise<OpenDirectory> {
  const handle = await openDescriptor(accessPath);
  const actual = handle && getDescriptorPath(handle.fd);
  if (handle && actual === path) return { path, accessPath: `/proc/self/fd/${handle.fd}`, handle };
  await handle?.close();
  if (actual !== undefined || await system.realPath(path) !== path) throw createChangedError(path);
  return { path, accessPath: path };
}

async function openDescriptor(path: string): Promise<FileHandle | undefined> {
  if (system.build.os !== "linux") return undefined;
  try {
    const { constants, promises } = getBuiltinModule("node:fs");
    const flags = constants.O_RDONLY | constants.O_DIRECTORY;
    // In `/proc/self/fd/N/name` the link of the descriptor is followed, but a link at `name` is refused.
    // deno-lint-ignore swink/untrusted-reads -- only a directory is opened
    return await promises.open(
      path,
      path.startsWith("/proc/self/fd/") ? flags | constants.O_NOFOLLOW : flags,
    );
  } catch (error) {
    if (isMissingPermission(error)) return undefined;
    throw error;
  }
}

async function openSubdirectory(parent: OpenDirectory, name: string): Promise<OpenDirectory> {
  try {
    await system.mkdir(join(parent.accessPath, name)).catch((error) => {
      if (getSystemErrorCode(error) !== "EEXIST") throw error;
    });
    return await openDirectory(join(parent.path, name), join(parent.accessPath, name));
  } finally {
    await parent.handle?.close();
  }
}

class LocalDirectoryHandle implements DirectoryHandle {
  readonly #directory: OpenDirectory;

  constructor(directory: OpenDirectory) {
    this.#directory = directory;
  }

  async replaceFile(name: string, file: NewFile): Promise<void> {
    const { accessPath } = this.#directory;
    const temporary = join(
      accessPath,
      `.${name.slice(0, 60)}.${crypto.randomUUID().slice(0, 8)}.tmp`,
    );
    try {
      if (file.bytes.length <= MAX_SYNC_BYTES) writeSmallFile(temporary, file);
      else await writeLargeFile(temporary, file);
      await this.#verify();
      // Synchronous, since a rename within a directory moves no data and the directory has just been accessed.
      system.renameSync(temporary, join(accessPath, name));
    } catch (error) {
      await system.remove(temporary).catch(() => {});
      throw error;
    }
  }

  async removeFile(name: string): Promise<void> {
    await this.#verify();
    await system.remove(join(this.#directory.accessPath, name));
  }

  async entries(): Promise<readonly NamedEntry[]> {
    await this.#verify();
    // Synchronous, since the directory has just been accessed and the asynchronous iterator takes six times as long.
    return [...system.readDirSync(this.#directory.accessPath)];
  }

  /** Checks that the path is still canonical; an open descriptor cannot be redirected. */
  async #verify(): Promise<void> {
    const { handle, path } = this.#directory;
    if (!handle && await system.realPath(path) !== path) throw createChangedError(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#directory.handle?.close();
  }
}

/** Maximum size of a synchronous write, which is faster than five calls to a worker thread. */
const MAX_SYNC_BYTES = 64 * 1024;

function writeSmallFile(path: string, { bytes, mode, owner }: NewFile): void {
  using file = system.openSync(path, { write: true, createNew: true, mode: mode ?? 0o666 });
  for (let offset = 0; offset < bytes.length;) offset += file.writeSync(bytes.subarray(offset));
  applyPermissions(path, { mode, owner });
}

async function writeLargeFile(path: string, { bytes, mode, owner }: NewFile): Promise<void> {
  using file = await system.open(path, { write: true, createNew: true, mode: mode ?? 0o666 });
  for (let offset = 0; offset < bytes.length;) offset += await file.write(bytes.subarray(offset));
  applyPermissions(path, { mode, owner });
}

interface FilePermissions {
  readonly mode: NewFile["mode"];
  readonly owner: NewFile["owner"];
}

/** Restores the mode and owner of a replaced file exactly: the umask applied when the temporary file was opened. */
function applyPermissions(path: string, { mode, owner }: FilePermissions): void {
  if (system.build.os === "windows") return;
  if (owner && owner.uid !== system.uid()) {
    try {
      system.chownSync(path, owner.uid, owner.gid);
    } catch {
      // Only the superuser may change owners; otherwise the file belongs to the current user.
    }
  }
  if (mode !== undefined) system.chmodSync(path, mode);
}

async function exists(path: string): Promise<boolean> {
  try {
    await system.lstat(path);
    return true;
  } catch (error) {
    if (getSystemErrorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function createChangedError(path: string): BadRequestError {
  return new BadRequestError(
    `The directory ${quotePath(path)} changed while it was used: try again`,
  );
}
