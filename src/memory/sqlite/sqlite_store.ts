/**
 * Sessions in one SQLite database, for hosts with many sessions.
 *
 * @module
 */

import { localFileSystem } from "../file/local_file_system.ts";
import type { LockStorage } from "../lock/lock_storage.ts";
import { checkPath, checkStoreOptions } from "../storage/check_store_options.ts";
import { StorageSessionStore } from "../storage/storage_session_store.ts";
import { SqliteStorage } from "./sqlite_storage.ts";

/** Options for {@linkcode SqliteSessionStore}. */
export interface SqliteSessionStoreOptions {
  /** The database file; created if it does not exist. Locks are kept in the directory `<path>-locks`. */
  readonly path: string;
  /** Name of the host, shown to other processes that find a session locked. */
  readonly owner?: string | undefined;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: (() => string) | undefined;
}

/** Options for {@linkcode SqliteSessionStore} with the storage of locks, which tests replace. Not public. */
export interface SqliteStoreOptions extends SqliteSessionStoreOptions {
  /** The storage of locks. Default: the file system of this machine. */
  readonly files?: LockStorage;
}

/**
 * Keeps sessions in one SQLite database with a write-ahead log and a full-text index. The time for listing and
 * searching does not depend on the number of entries. The text of a deleted session cannot be restored from the
 * file. Uses the runtime's `node:sqlite`, which Node has with full-text search since 22.16.
 *
 * @example
 * ```ts
 * import { SqliteSessionStore } from "@swink/agent/memory";
 *
 * const path = `${await Deno.makeTempDir()}/sessions.db`;
 * await using store = new SqliteSessionStore({ path });
 * await using session = await store.create();
 * session.append({ type: "title", title: "First steps" });
 * await session.flush();
 * (await store.search("steps")).length; // 1
 * ```
 */
export class SqliteSessionStore extends StorageSessionStore {
  /**
   * Creates a store; the database is opened on first use.
   *
   * @throws {BadRequestError} If the path is no path, or empty.
   */
  constructor(options: SqliteSessionStoreOptions) {
    checkStoreOptions("SqliteSessionStore", options, {
      example: '{ path: "data/sessions.db" }',
      known: ["path", "owner", "now", "newId", "files"],
    });
    const { path, now = Date.now, files = localFileSystem }: SqliteStoreOptions = options;
    checkPath("path", path);
    // The system ends the lease of a process that ends, so that it needs no renewal.
    super(new SqliteStorage({ path, now, files }), { ...options, leaseMs: Infinity });
  }
}
