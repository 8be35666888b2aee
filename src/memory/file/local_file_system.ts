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
      const file = await system.open(path, { append: true });
      return {
        write: (bytes) => file.write(bytes),
        sync: () => file.syncData(),
        stat: () => toFileInfo(file.statSync()),
        close: () => file.close(),
      };
    },
    openToLock(path) {
      ifExists(() => assertFile(system, path));
      const options = { read: true, write: true, create: true, mode: PRIVATE_MODE };
      return createLocalLock(system, { path, file: system.openSync(path, options) });
    },
    async replace(path, text, { sync }) {
      const temporary = `${path}.${system.pid}.tmp`;
      const options = { write: true, create: true, truncate: true, mode: PRIVATE_MODE };
      try {
        await writeText(await system.open(temporary, options), text, { sync });
        await system.rename(temporary, path);
      } catch (error) {
        await system.remove(temporary).catch(() => {});
        throw error;
      }
    },
    async copy(from, to) {
      assertFile(system, from);
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
