/**
 * The file access of evaluations.
 *
 * @module
 */

import { dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";

/** Port: reads and writes files. Paths are those of the platform. */
export interface EvalFiles {
  /** Reads a file as UTF-8; `undefined` if it does not exist. */
  read(path: string): Promise<string | undefined>;
  /** Replaces a file atomically. Creates it and its directory if they do not exist. */
  write(path: string, text: string): Promise<void>;
  /** Appends to a file. Creates it and its directory if they do not exist. */
  append(path: string, text: string): Promise<void>;
  /** Returns the names of the directories in a directory, sorted; none if it does not exist. */
  list(path: string): Promise<string[]>;
}

/** Cases and results can contain prompts and files of users, so that only the owner may read them. */
const FILE_MODE = 0o600;

/** The file system of this machine. */
export const localEvalFiles: EvalFiles = {
  async read(path) {
    try {
      if (!(await system.stat(path)).isFile) throw new Error(`"${path}" is not a file`);
      return await system.readTextFile(path);
    } catch (error) {
      if (getSystemErrorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  },
  async write(path, text) {
    const temporaryFile = `${path}.${crypto.randomUUID()}.tmp`;
    await system.mkdir(dirname(path), { recursive: true });
    try {
      await system.writeTextFile(temporaryFile, text, { createNew: true, mode: FILE_MODE });
      await system.rename(temporaryFile, path);
    } catch (error) {
      await system.remove(temporaryFile).catch(() => {});
      throw error;
    }
  },
  async append(path, text) {
    await system.mkdir(dirname(path), { recursive: true });
    await system.writeTextFile(path, text, { append: true, mode: FILE_MODE });
  },
  async list(path) {
    const status = await system.stat(path).catch(() => undefined);
    if (!status?.isDirectory) return [];
    const entries = [...system.readDirSync(path)].filter(({ isDirectory }) => isDirectory);
    return entries.map(({ name }) => name).sort();
  },
};
