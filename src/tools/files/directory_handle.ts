/**
 * A folder that is held open, so that nothing can be put in its place while a file in it is written.
 *
 * On Linux the folder is addressed through its open descriptor (`/proc/self/fd/N`), which a swapped link cannot
 * redirect. Elsewhere, and where the program may not use `/proc`, the path is used and checked before and after.
 *
 * @module
 */

import type { FileHandle } from "node:fs/promises";
import { BadRequestError } from "../../core/errors.ts";
import { getSystemErrorCode, quotePath } from "./file_error.ts";
import { loadNodeFs } from "./node_fs.ts";
import { basename, dirname, join } from "./paths.ts";

/** A file that shall be in the folder. */
export interface NewFile {
  /** All its bytes. */
  readonly bytes: Uint8Array;
  /** Its mode. Default: 0o644 less the umask. */
  readonly mode?: number | undefined;
  /** Whose it shall be, where that is allowed. */
  readonly owner?: undefined | { readonly uid: number | null; readonly gid: number | null };
}

/** A folder that is held open. */
export interface DirectoryHandle extends AsyncDisposable {
  /** Puts a whole file in its place, in one step that readers see or do not see. */
  replaceFile(name: string, file: NewFile): Promise<void>;
  /** Removes a file. */
  removeFile(name: string): Promise<void>;
  /** The names in it. */
  entries(): Promise<readonly Deno.DirEntry[]>;
}

/**
 * Holds a canonical folder open.
 *
 * @throws {BadRequestError} When the path no longer leads to itself.
 */
export async function openDirectoryHandle(
  folder: string,
  options: { readonly create: boolean },
): Promise<DirectoryHandle> {
  const missing: string[] = [];
  let existing = folder;
  while (options.create && !(await exists(existing)) && dirname(existing) !== existing) {
    missing.push(basename(existing));
    existing = dirname(existing);
  }
  let held = await openDirectory(existing, existing);
  for (const name of missing.reverse()) held = await openSubdirectory(held, name);
  return new LocalDirectoryHandle(held);
}

/** An open folder: its canonical path, and the path by which the system reaches it. */
interface OpenDirectory {
  readonly path: string;
  readonly accessPath: string;
  readonly handle?: FileHandle;
}

async function openDirectory(path: string, reach: string): Promise<OpenDirectory> {
  const handle = await openDescriptor(reach);
  const actual = handle && getDescriptorPath(handle.fd);
  if (handle && actual === path) return { path, accessPath: `/proc/self/fd/${handle.fd}`, handle };
  await handle?.close();
  if (actual !== undefined || await Deno.realPath(path) !== path) throw createChangedError(path);
  return { path, accessPath: path };
}

/** The canonical path of what is open; `undefined` where the system does not tell. Asking it never waits for a disk. */
export function getDescriptorPath(descriptor: number): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  try {
    return Deno.readLinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

async function openDescriptor(path: string): Promise<FileHandle | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  try {
    const { open, sync: { constants } } = await loadNodeFs();
    const flags = constants.O_RDONLY | constants.O_DIRECTORY;
    // The link of our own descriptor is the one link that is meant to be followed.
    return await open(
      path,
      path.startsWith("/proc/self/fd/") ? flags | constants.O_NOFOLLOW : flags,
    );
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

async function openSubdirectory(parent: OpenDirectory, name: string): Promise<OpenDirectory> {
  try {
    await Deno.mkdir(join(parent.accessPath, name)).catch((error) => {
      if (getSystemErrorCode(error) !== "EEXIST") throw error;
    });
    return await openDirectory(join(parent.path, name), join(parent.accessPath, name));
  } finally {
    await parent.handle?.close();
  }
}

class LocalDirectoryHandle implements DirectoryHandle {
  readonly #directory: OpenDirectory;

  constructor(folder: OpenDirectory) {
    this.#directory = folder;
  }

  async replaceFile(name: string, file: NewFile): Promise<void> {
    const { accessPath: reach } = this.#directory;
    const temporary = join(reach, `.${name.slice(0, 60)}.${crypto.randomUUID().slice(0, 8)}.tmp`);
    try {
      if (file.bytes.length <= MAX_SYNC_BYTES) writeSmallFile(temporary, file);
      else await writeLargeFile(temporary, file);
      await this.#verify();
      // The same folder: nothing is moved, and no disk waited for that has not just answered.
      Deno.renameSync(temporary, join(reach, name));
    } catch (error) {
      await Deno.remove(temporary).catch(() => {});
      throw error;
    }
  }

  async removeFile(name: string): Promise<void> {
    await this.#verify();
    await Deno.remove(join(this.#directory.accessPath, name));
  }

  async entries(): Promise<readonly Deno.DirEntry[]> {
    await this.#verify();
    // The folder was opened, so its disk answers; name by name through a thread takes six times as long.
    return [...Deno.readDirSync(this.#directory.accessPath)];
  }

  /** A folder reached by its path may have been replaced; one reached by its descriptor cannot. */
  async #verify(): Promise<void> {
    const { handle, path } = this.#directory;
    if (!handle && await Deno.realPath(path) !== path) throw createChangedError(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#directory.handle?.close();
  }
}

/** Up to here a file is written in one go; asking a thread five times takes longer. */
const MAX_SYNC_BYTES = 64 * 1024;

function writeSmallFile(path: string, { bytes, mode, owner }: NewFile): void {
  using file = Deno.openSync(path, { write: true, createNew: true, mode: mode ?? 0o666 });
  for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
  applyPermissions(path, { mode, owner });
}

async function writeLargeFile(path: string, { bytes, mode, owner }: NewFile): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true, mode: mode ?? 0o666 });
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  applyPermissions(path, { mode, owner });
}

interface FilePermissions {
  readonly mode: NewFile["mode"];
  readonly owner: NewFile["owner"];
}

/** The umask has had its say at the opening; an existing file's mode and owner are kept exactly. */
function applyPermissions(path: string, { mode, owner }: FilePermissions): void {
  if (Deno.build.os === "windows") return;
  if (owner && owner.uid !== Deno.uid()) {
    try {
      Deno.chownSync(path, owner.uid, owner.gid);
    } catch {
      // Only the superuser may give files away; for everybody else the file becomes their own.
    }
  }
  if (mode !== undefined) Deno.chmodSync(path, mode);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (getSystemErrorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function createChangedError(path: string): BadRequestError {
  return new BadRequestError(`The folder ${quotePath(path)} changed while it was used: try again`);
}
