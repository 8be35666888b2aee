/**
 * The file access of evaluations.
 *
 * @module
 */

import type { SystemFile } from "../../platform/file_calls.ts";
import { lockFile } from "../../platform/file_lock.ts";
import { dirname } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";

/** Port: reads and writes files. Paths are those of the platform. */
export interface EvalFiles {
  /** Reads a file as UTF-8; `undefined` if it does not exist. */
  read(path: string): Promise<string | undefined>;
  /**
   * Reads a file as UTF-8 line by line, each with its line end: the file can be longer than any text. None if it does not
   * exist.
   */
  readLines(path: string): AsyncIterable<string>;
  /** Creates a file, and its directory if it does not exist. Returns `false`, and changes nothing, if the file exists. */
  create(path: string, text: string): Promise<boolean>;
  /** Replaces a file atomically. Creates it and its directory if they do not exist. */
  write(path: string, text: string): Promise<void>;
  /** Appends to a file. Creates it and its directory if they do not exist. */
  append(path: string, text: string): Promise<void>;
  /**
   * Locks a path until the lock is disposed of or the process ends; `undefined` if it is locked. Creates its directory if it
   * does not exist.
   */
  lock(path: string): Promise<Disposable | undefined>;
  /** Renames a file, which replaces another one. */
  rename(path: string, target: string): Promise<void>;
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
  readLines: readFileLines,
  async create(path, text) {
    await system.mkdir(dirname(path), { recursive: true });
    try {
      await system.writeTextFile(path, text, { createNew: true, mode: FILE_MODE });
      return true;
    } catch (error) {
      if (getSystemErrorCode(error) === "EEXIST") return false;
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
    const write = () => system.writeTextFile(path, text, { append: true, mode: FILE_MODE });
    try {
      await write();
    } catch (error) {
      if (getSystemErrorCode(error) !== "ENOENT") throw error;
      await system.mkdir(dirname(path), { recursive: true });
      await write();
    }
  },
  async lock(path) {
    await system.mkdir(dirname(path), { recursive: true });
    return lockFile(path);
  },
  rename: (path, target) => system.rename(path, target),
  async list(path) {
    const status = await system.stat(path).catch(() => undefined);
    if (!status?.isDirectory) return [];
    const entries = [...system.readDirSync(path)].filter(({ isDirectory }) => isDirectory);
    return entries.map(({ name }) => name).sort();
  },
};

/** Bytes that are read at once. */
const CHUNK_BYTES = 256 * 1024;

async function* readFileLines(path: string): AsyncGenerator<string> {
  using file = await openIfExists(path);
  if (!file) return;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const bytes = new Uint8Array(CHUNK_BYTES);
  // The parts of a line that is longer than a chunk.
  let parts: string[] = [];
  for (;;) {
    const count = await file.read(bytes);
    const text = count === null
      ? decoder.decode()
      : decoder.decode(bytes.subarray(0, count), { stream: true });
    for (const part of text.split(/(?<=\n)/)) {
      parts.push(part);
      if (!part.endsWith("\n")) continue;
      yield parts.join("");
      parts = [];
    }
    if (count === null) break;
  }
  const rest = parts.join("");
  if (rest !== "") yield rest;
}

async function openIfExists(path: string): Promise<SystemFile | undefined> {
  try {
    if (!(await system.stat(path)).isFile) throw new Error(`"${path}" is not a file`);
    return await system.open(path);
  } catch (error) {
    if (getSystemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
