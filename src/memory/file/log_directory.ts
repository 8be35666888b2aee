/**
 * The directory with the logs of a store.
 *
 * @module
 */

import { getSystemErrorCode } from "../../platform/system_error.ts";
import { decodeFileName, encodeFileName, isHashedName } from "../store/file_name.ts";
import { createNotFoundError, toSessionError } from "../store/session_errors.ts";
import { readIndexSummary } from "./file_index.ts";
import type { FileInfo, FileSystem } from "./file_system.ts";
import { type LoadedLog, loadLogIndex } from "./load_log_index.ts";
import { readHeaderId } from "./read_header_id.ts";
import { getSessionPaths, LOG_EXTENSION, type SessionPaths } from "./session_paths.ts";

/** A log in the directory. */
export interface ListedLog {
  /** Name of the files of the session, without an extension. */
  readonly name: string;
  /** Modification time of the log, in milliseconds since the epoch. */
  readonly modified: number;
}

/** Finds and loads logs. */
export class LogDirectory {
  /** Path of the directory, without a slash at its end. */
  readonly path: string;
  readonly #files: FileSystem;

  constructor(files: FileSystem, path: string) {
    this.#files = files;
    this.path = path;
  }

  /** Returns the paths of the files of a session. */
  getPaths(id: string): SessionPaths {
    return getSessionPaths(this.path, id);
  }

  /**
   * Returns the logs, most recently modified first; none if the directory does not exist.
   *
   * @throws {SessionError} If the directory cannot be read.
   */
  list(): ListedLog[] {
    try {
      return this.#files.listDirectory(this.path)
        .filter((fileName) => fileName.endsWith(LOG_EXTENSION))
        .map((fileName) => fileName.slice(0, -LOG_EXTENSION.length))
        .filter((name) => isHashedName(name) || decodeFileName(name) !== undefined)
        .map((name) => ({ name, modified: this.#readModified(name) }))
        .toSorted((left, right) => right.modified - left.modified);
    } catch (error) {
      throw toSessionError(error, { id: undefined, reason: "read_failed" });
    }
  }

  /** Returns the modification time of a log; that of one that cannot be read is later than all others. */
  #readModified(name: string): number {
    try {
      return this.#files.stat(`${this.path}/${name}${LOG_EXTENSION}`)?.modified ?? Infinity;
    } catch {
      return Infinity;
    }
  }

  /**
   * Returns the metadata of a session's log.
   *
   * @throws {SessionError} With the reason `not_found`, also if a hashed name belongs to another session.
   */
  async find(id: string): Promise<FileInfo> {
    const { log, name } = this.getPaths(id);
    try {
      const info = this.#files.stat(log);
      if (!info) throw createNotFoundError(id);
      // Without a readable id, the name is that of the session.
      const isOther = isHashedName(name) && (await this.readId(name) ?? id) !== id;
      if (isOther) throw createNotFoundError(id);
      return info;
    } catch (error) {
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }

  /**
   * Loads a session's log, from its index as far as that is up to date.
   *
   * @throws {SessionError} If there is none, or it cannot be read.
   */
  async load(id: string): Promise<LoadedLog> {
    try {
      return await loadLogIndex(this.#files, this.getPaths(id), { id, log: await this.find(id) });
    } catch (error) {
      // Another process has deleted it meanwhile.
      if (getSystemErrorCode(error) === "ENOENT") throw createNotFoundError(id);
      throw toSessionError(error, { id, reason: "read_failed" });
    }
  }

  /** Returns the id of the session whose files have a name; `undefined` if neither the log nor its index has it. */
  async readId(name: string): Promise<string | undefined> {
    if (!isHashedName(name)) return decodeFileName(name);
    const path = `${this.path}/${name}`;
    const file = await this.#files.openToRead(`${path}${LOG_EXTENSION}`);
    try {
      const ids = [await readHeaderId(file), this.#readIndexId(path)];
      return ids.find((id) => id !== undefined && encodeFileName(id) === name);
    } finally {
      file.close();
    }
  }

  #readIndexId(path: string): string | undefined {
    try {
      return readIndexSummary(this.#files, `${path}.index`)?.summary.id;
    } catch {
      return undefined; // The index is missing or cannot be read.
    }
  }
}
