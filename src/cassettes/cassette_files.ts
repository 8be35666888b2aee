/**
 * The file access of cassettes.
 *
 * @module
 */

import type { FileStatus } from "../platform/file_calls.ts";
import { dirname, fromFileUrl } from "../platform/paths.ts";
import { system } from "../platform/system.ts";
import { getSystemErrorCode } from "../platform/system_error.ts";

/** The path of a file, or its `file:` URL. */
export type CassettePath = string | URL;

/** Port: reads and writes cassette files. */
export interface CassetteFiles {
  /** Reads a file as UTF-8; `undefined` if it does not exist. */
  read(path: CassettePath): Promise<string | undefined>;
  /** Replaces a file atomically. Creates it and its directory if they do not exist. */
  replace(path: CassettePath, text: string): Promise<void>;
  /** Appends to a file. */
  append(path: CassettePath, text: string): Promise<void>;
}

/** Prompts are private: only the owner may read and write a cassette. */
const FILE_MODE = 0o600;

/** The file system of this machine. */
export const localFiles: CassetteFiles = {
  async read(path) {
    const file = toFilePath(path);
    try {
      if (!(await system.stat(file)).isFile) throw new Error(`"${path}" is not a file`);
      return await system.readTextFile(file);
    } catch (error) {
      if (getSystemErrorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  replace: async (path, text) => void await replaceFile(toFilePath(path), text),
  async append(path, text) {
    await system.writeTextFile(toFilePath(path), text, { append: true });
  },
};

/** A file as a recorder has written it. */
type WrittenFile = Pick<FileStatus, "ino" | "size">;

/**
 * Returns access to the files of one recorder: what it appends to is the file that it has written. Two recorders with the
 * same path would otherwise mix their exchanges.
 */
export function createRecordingFiles(): CassetteFiles {
  let written: WrittenFile | undefined;
  return {
    read: localFiles.read,
    async replace(path, text) {
      written = await replaceFile(toFilePath(path), text);
    },
    async append(path, text) {
      written = await appendTo(toFilePath(path), text, written);
    },
  };
}

async function replaceFile(file: string, text: string): Promise<WrittenFile> {
  const temporaryFile = `${file}.${crypto.randomUUID()}.tmp`;
  await system.mkdir(dirname(file), { recursive: true });
  try {
    await system.writeTextFile(temporaryFile, text, { createNew: true, mode: FILE_MODE });
    const written = await system.stat(temporaryFile);
    await system.rename(temporaryFile, file);
    return written;
  } catch (error) {
    await system.remove(temporaryFile).catch(() => {});
    throw error;
  }
}

/** @throws {Error} If the file is not the one that was written. */
async function appendTo(
  path: string,
  text: string,
  written: WrittenFile | undefined,
): Promise<WrittenFile> {
  // Compared after it is opened: another recorder may replace it at any time.
  using file = await system.open(path, { append: true });
  const { ino, size } = file.statSync();
  if (ino !== written?.ino || size !== written.size) {
    throw new Error("another recording has replaced the file; record to another one");
  }
  let rest: Uint8Array = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(await file.write(rest));
  return file.statSync();
}

function toFilePath(path: CassettePath): string {
  return typeof path === "string" ? path : fromFileUrl(path);
}
