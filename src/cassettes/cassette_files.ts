/**
 * The file access of cassettes.
 *
 * @module
 */

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
  async replace(path, text) {
    const file = toFilePath(path);
    const temporaryFile = `${file}.${crypto.randomUUID()}.tmp`;
    await system.mkdir(dirname(file), { recursive: true });
    try {
      await system.writeTextFile(temporaryFile, text, { createNew: true, mode: FILE_MODE });
      await system.rename(temporaryFile, file);
    } catch (error) {
      await system.remove(temporaryFile).catch(() => {});
      throw error;
    }
  },
  async append(path, text) {
    await system.writeTextFile(toFilePath(path), text, { append: true });
  },
};

function toFilePath(path: CassettePath): string {
  return typeof path === "string" ? path : fromFileUrl(path);
}
