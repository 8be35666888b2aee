/**
 * The file system of the machine. Sessions access files only through this module.
 *
 * @module
 */

import type { LockableFile } from "../lock/lock_storage.ts";
import type { FileInfo, FileSystem, ReadableFile } from "./file_system.ts";

/** Mode of new files: only the owner can read conversations. */
const PRIVATE_MODE = 0o600;

/** The file system of the machine, through `Deno`. */
export const denoFileSystem: FileSystem = {
  makeDirectory: (path) => Deno.mkdirSync(path, { recursive: true, mode: 0o700 }),
  listDirectory(path) {
    return ifExists(() => Array.from(Deno.readDirSync(path), ({ name }) => name)) ?? [];
  },
  stat: (path) => ifExists(() => toFileInfo(Deno.statSync(path))),
  readEnd(path, length) {
    using file = Deno.openSync(path);
    const size = file.seekSync(0, Deno.SeekMode.End);
    const bytes = new Uint8Array(Math.min(size, length));
    file.seekSync(size - bytes.length, Deno.SeekMode.Start);
    let filled = 0;
    while (filled < bytes.length) {
      const count = file.readSync(bytes.subarray(filled));
      if (count === null) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  },
  openToRead: async (path) => new DenoReadableFile(await Deno.open(path)),
  async openToAppend(path) {
    const file = await Deno.open(path, { append: true });
    return {
      write: (bytes) => file.write(bytes),
      sync: () => file.syncData(),
      stat: () => toFileInfo(file.statSync()),
      close: () => file.close(),
    };
  },
  openToLock: (path) =>
    new DenoLockableFile(
      Deno.openSync(path, { read: true, write: true, create: true, mode: PRIVATE_MODE }),
    ),
  async replace(path, text, { sync }) {
    const temporary = `${path}.${Deno.pid}.tmp`;
    try {
      await writeFile(temporary, text, sync);
      await Deno.rename(temporary, path);
    } catch (error) {
      await Deno.remove(temporary).catch(() => {});
      throw error;
    }
  },
  copy: (from, to) => Deno.copyFile(from, to),
  rename: (from, to) => Deno.renameSync(from, to),
  remove: (path) => ifExists(() => Deno.removeSync(path)),
  async syncDirectory(path) {
    // Windows cannot open directories.
    if (Deno.build.os === "windows") return;
    using directory = await Deno.open(path);
    await directory.sync();
  },
  startInterval(milliseconds, run) {
    const timer = setInterval(run, milliseconds);
    Deno.unrefTimer(timer);
    return () => clearInterval(timer);
  },
  get processId() {
    return Deno.pid;
  },
};

class DenoReadableFile implements ReadableFile {
  readonly #file: Deno.FsFile;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    await this.#file.seek(offset, Deno.SeekMode.Start);
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

class DenoLockableFile implements LockableFile {
  readonly #file: Deno.FsFile;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  tryLock(): boolean {
    return this.#file.tryLockSync(true);
  }

  write(text: string): void {
    this.#file.truncateSync();
    this.#file.seekSync(0, Deno.SeekMode.Start);
    this.#file.writeSync(new TextEncoder().encode(text));
  }

  read(): string {
    this.#file.seekSync(0, Deno.SeekMode.Start);
    const bytes = new Uint8Array(4096);
    return new TextDecoder().decode(bytes.subarray(0, this.#file.readSync(bytes) ?? 0));
  }

  touch(time: number): void {
    this.#file.utimeSync(time / 1000, time / 1000);
  }

  stat(): FileInfo {
    return toFileInfo(this.#file.statSync());
  }

  close(): void {
    this.#file.close();
  }
}

async function writeFile(path: string, text: string, sync: boolean): Promise<void> {
  using file = await Deno.open(path, {
    write: true,
    create: true,
    truncate: true,
    mode: PRIVATE_MODE,
  });
  const bytes = new TextEncoder().encode(text);
  let written = 0;
  while (written < bytes.length) written += await file.write(bytes.subarray(written));
  if (sync) await file.syncData();
}

function toFileInfo({ size, mtime, ino }: Deno.FileInfo): FileInfo {
  return { size, modified: mtime?.getTime() ?? 0, inode: ino };
}

function ifExists<Value>(access: () => Value): Value | undefined {
  try {
    return access();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
