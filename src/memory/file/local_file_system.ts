/**
 * The file system of the machine. Sessions access files only through this module.
 *
 * @module
 */

import { type FileStatus, SEEK_START, type SystemFile } from "../../platform/file_calls.ts";
import { type System, system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { createLocalLock } from "../lock/local_lock.ts";
import type { FileInfo, FileSystem, ReadableFile } from "./file_system.ts";

/** Mode of new files: only the owner can read conversations. */
const PRIVATE_MODE = 0o600;

/** Maximum number of attempts to open a file that other processes create and remove at the same time. */
const MAX_OPEN_ATTEMPTS = 100;

/** Creates a file system over the operations of a runtime. */
export function createLocalFileSystem(system: System): FileSystem {
  return {
    makeDirectory: (path) => system.mkdirSync(path, { recursive: true, mode: 0o700 }),
    listDirectory(path) {
      return ifExists(() => Array.from(system.readDirSync(path), ({ name }) => name)) ?? [];
    },
    stat: (path) => ifExists(() => toFileInfo(system.statSync(path))),
    readEnd(path, length) {
      assertFile(system, path);
      using file = system.openSync(path);
      return readEnd(file, length);
    },
    async openToRead(path) {
      assertFile(system, path);
      return new LocalReadableFile(await system.open(path));
    },
    async openToAppend(path) {
      assertFile(system, path);
      assertNoLink(system, path);
      const file = await system.open(path, { append: true });
      return {
        write: (bytes) => file.write(bytes),
        sync: () => file.syncData(),
        stat: () => toFileInfo(file.statSync()),
        close: () => file.close(),
      };
    },
    openToLock(path) {
      return createLocalLock(system, { path, file: openOwnFile(system, path) });
    },
    async replace(path, text, { sync }) {
      const temporary = `${path}.${system.pid}.tmp`;
      const options = { write: true, createNew: true, mode: PRIVATE_MODE };
      try {
        // A file that a killed process with the same id has left, or a link.
        ifExists(() => system.removeSync(temporary));
        await writeText(await system.open(temporary, options), text, { sync });
        await system.rename(temporary, path);
      } catch (error) {
        await system.remove(temporary).catch(() => {});
        throw error;
      }
    },
    async copy(from, to) {
      assertFile(system, from);
      // Of a link, the target would be replaced.
      ifExists(() => system.removeSync(to));
      await system.copyFile(from, to);
    },
    rename: (from, to) => system.renameSync(from, to),
    remove: (path) => ifExists(() => system.removeSync(path)),
    async syncDirectory(path) {
      // Windows cannot open directories.
      if (system.build.os === "windows") return;
      using directory = await system.open(path);
      await directory.sync();
    },
    wait: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    get processId() {
      return system.pid;
    },
  };
}

/** The file system of this machine. */
export const localFileSystem: FileSystem = createLocalFileSystem(system);

/** Checks that a path is that of a file: opening a named pipe would block the thread until a writer opens it. */
function assertFile(system: System, path: string): void {
  const { isFile, isDirectory } = system.statSync(path);
  // Opening a directory fails with a better message.
  if (!isFile && !isDirectory) throw new Error(`"${path}" is not a file: remove it`);
}

/** Checks that a file is not opened through a link, which would change a file outside of the directory. */
function assertNoLink(system: System, path: string): void {
  const { isSymlink } = system.lstatSync(path);
  if (isSymlink) throw new Error(`"${path}" is a symbolic link: remove it`);
}

/**
 * Opens a file for reading and writing; creates it if it does not exist. A symbolic link is not followed, since its target
 * would be replaced, also if the link is created at the same time.
 */
function openOwnFile(system: System, path: string): SystemFile {
  for (let attempt = 1;; attempt++) {
    try {
      const file = tryOpenOwnFile(system, path);
      if (file) return file;
    } catch (error) {
      // Another process has created or removed the file meanwhile.
      const isChanged = ["EEXIST", "ENOENT"].includes(getSystemErrorCode(error) ?? "");
      if (!isChanged || attempt >= MAX_OPEN_ATTEMPTS) throw error;
    }
    if (attempt >= MAX_OPEN_ATTEMPTS) throw new Error(`"${path}" is replaced all the time`);
  }
}

/** Opens a file; `undefined` if it was replaced meanwhile. */
function tryOpenOwnFile(system: System, path: string): SystemFile | undefined {
  if (!ifExists(() => system.lstatSync(path))) {
    const options = { read: true, write: true, createNew: true, mode: PRIVATE_MODE };
    return system.openSync(path, options);
  }
  assertNoLink(system, path);
  assertFile(system, path);
  const file = system.openSync(path, { read: true, write: true });
  try {
    assertNoLink(system, path);
    if (system.lstatSync(path).ino === file.statSync().ino) return file;
  } catch (error) {
    file.close();
    throw error;
  }
  file.close();
  return undefined;
}

/** Reads at most `length` bytes from the end of a file. */
function readEnd(file: SystemFile, length: number): Uint8Array<ArrayBuffer> {
  const { size } = file.statSync();
  const bytes = new Uint8Array(Math.min(size, length));
  file.seekSync(size - bytes.length, SEEK_START);
  let filled = 0;
  while (filled < bytes.length) {
    const count = file.readSync(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

class LocalReadableFile implements ReadableFile {
  readonly #file: SystemFile;

  constructor(file: SystemFile) {
    this.#file = file;
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    await this.#file.seek(offset, SEEK_START);
    let filled = 0;
    while (filled < length) {
      const count = await this.#file.read(bytes.subarray(filled));
      if (count === null) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  stat(): FileInfo {
    return toFileInfo(this.#file.statSync());
  }

  close(): void {
    this.#file.close();
  }
}

/** Writes a text and closes the file. */
async function writeText(
  openFile: SystemFile,
  text: string,
  { sync }: { readonly sync: boolean },
): Promise<void> {
  using file = openFile;
  const bytes = new TextEncoder().encode(text);
  let written = 0;
  while (written < bytes.length) written += await file.write(bytes.subarray(written));
  if (sync) await file.syncData();
}

function toFileInfo({ size, mtime, ino }: FileStatus): FileInfo {
  return { size, modified: mtime?.getTime() ?? 0, inode: ino };
}

function ifExists<Value>(access: () => Value): Value | undefined {
  try {
    return access();
  } catch (error) {
    if (getSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
