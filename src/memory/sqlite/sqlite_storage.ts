/**
 * A storage in one SQLite database.
 *
 * @module
 */

import { getErrorMessage, SessionError } from "../../core/errors/errors.ts";
import type { SessionSummary } from "../../core/sessions/session.ts";
import { LockFileLeases } from "../lock/lock_file_leases.ts";
import type { LockStorage } from "../lock/lock_storage.ts";
import { MemoryLeases } from "../lock/memory_leases.ts";
import type {
  EntryAppend,
  EntryStorage,
  LeaseRequest,
  LeaseResult,
  StorageHit,
  StorageListOptions,
  StorageSearch,
  StoredEntry,
  StoredSession,
} from "../storage/entry_storage.ts";
import { encodeSummary } from "../storage/session_columns.ts";
import { encodeText } from "../storage/stored_text.ts";
import { createLockLostError, createLogChangedError } from "../store/session_errors.ts";
import { deleteSession, isPartlyDeleted } from "./delete_session.ts";
import { toIndexText } from "./index_words.ts";
import { readOutline } from "./read_outline.ts";
import { encodeOwner, PARTLY_DELETED, readHeader, readRowSummary } from "./session_rows.ts";
import {
  addAdvice,
  type Database,
  emptyWriteAheadLog,
  isBusy,
  MEMORY_PATH,
  openDatabase,
  retryWhileBusy,
  runInTransaction,
  type Statement,
} from "./sqlite_database.ts";
import { createListQuery, createSearchQuery, type Query } from "./sqlite_queries.ts";
import { addMembers, createTables } from "./sqlite_tables.ts";
import { TaskPauses } from "./task_pauses.ts";

/** Options for {@linkcode SqliteStorage}. */
export interface SqliteStorageOptions {
  /** Path of the database. */
  readonly path: string;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** The storage of the lock files. */
  readonly files: LockStorage;
}

/** A storage in one database, which is opened on first use. */
export class SqliteStorage implements EntryStorage {
  readonly #path: string;
  readonly #files: LockStorage;
  readonly #leases: LockFileLeases | MemoryLeases;
  readonly #pauses = new TaskPauses();
  #connection: Promise<Connection> | undefined;
  #isClosed = false;
  /** Ids of the sessions with commits that were not synced to disk. */
  readonly #unsyncedIds = new Set<string>();
  /** Whether the write-ahead log may have entries that are not in the database. */
  #hasLoggedEntries = false;

  constructor({ path, now, files }: SqliteStorageOptions) {
    this.#path = path;
    this.#files = files;
    this.#leases = path === MEMORY_PATH
      ? new MemoryLeases()
      : new LockFileLeases(files, `${path}-locks`, now);
  }

  async append(id: string, append: EntryAppend): Promise<boolean> {
    if (!this.#leases.isHeld(append.token)) return false;
    await this.#assertUnchanged(id);
    if (append.position === 0) await this.#completeDeletion(id);
    return await this.#use((connection) => {
      const isAppended = runInTransaction(connection.database, () => connection.append(id, append));
      if (!isAppended) throw createLogChangedError(id, { path: this.#path, change: "changed" });
      this.#unsyncedIds.add(id);
      this.#hasLoggedEntries = true;
      return true;
    });
  }

  /** Deletes the rest of an earlier session with this id. */
  async #completeDeletion(id: string): Promise<void> {
    if (await this.#use(({ database }) => isPartlyDeleted(database, id))) {
      await this.#deleteSession(id);
    }
  }

  /** Commits once with a sync to disk, which also syncs all earlier commits. */
  async sync(id: string): Promise<void> {
    if (!this.#unsyncedIds.has(id)) return;
    await this.#assertUnchanged(id);
    const isSynced = await this.#use((connection) => {
      const isSynced = connection.sync(id);
      // Without the row of the session, SQLite has written nothing and synced nothing.
      if (isSynced) this.#unsyncedIds.clear();
      return isSynced;
    });
    if (!isSynced) throw createLogChangedError(id, { path: this.#path, change: "replaced" });
    if (!this.#hasFile("-wal")) await this.#use(({ database }) => emptyWriteAheadLog(database));
  }

  async load(id: string): Promise<StoredSession | undefined> {
    return await this.#use(({ database }) => {
      const row = database.prepare("SELECT * FROM sessions WHERE id = ?").get(id);
      return row && {
        header: readHeader(row),
        summary: readRowSummary(row),
        outline: row["entries"] === PARTLY_DELETED
          ? []
          : readOutline(database, id, Number(row["entries"])),
      };
    });
  }

  async readLines(
    id: string,
    positions: readonly number[],
  ): Promise<readonly (string | undefined)[]> {
    return await this.#use(({ database }) => {
      try {
        return readLines(database, id, positions);
      } catch {
        // A page is damaged: the lines on other pages can be read one by one.
        return positions.map((position) => tryReadLine(database, id, position));
      }
    });
  }

  async list(options: StorageListOptions): Promise<readonly SessionSummary[]> {
    return await this.#use(({ database }) =>
      selectAll(database, createListQuery(options)).map(readRowSummary)
    );
  }

  async search(search: StorageSearch): Promise<readonly StorageHit[]> {
    return await this.#use(({ database }) =>
      selectAll(database, createSearchQuery(search)).map((
        { session, updated, position, line },
      ) => ({
        id: String(session),
        updated: Number(updated),
        position: Number(position),
        line: String(line),
      }))
    );
  }

  async delete(id: string, token: string): Promise<boolean> {
    if (!this.#leases.isHeld(token)) throw createLockLostError(id, undefined);
    const isDeleted = await this.#deleteSession(id);
    if (isDeleted) await this.#eraseDeletedText(id);
    return isDeleted;
  }

  async #deleteSession(id: string): Promise<boolean> {
    return await deleteSession(id, (act) => this.#use(({ database }) => act(database)));
  }

  /** The deleted text is also in the write-ahead log, and stays there while another process reads it. */
  async #eraseDeletedText(id: string): Promise<void> {
    try {
      await this.#use(({ database }) => emptyWriteAheadLog(database));
    } catch (error) {
      if (!isBusy(error)) throw error;
      throw new SessionError(
        `The session "${id}" is deleted, but its text is still in "${this.#path}-wal", which another process reads: ` +
          "close that process, and delete another session or close the store",
        { reason: "write_failed", cause: error },
      );
    }
  }

  async lease(id: string, request: LeaseRequest): Promise<LeaseResult> {
    return await this.#leases.lease(id, request);
  }

  async release(_id: string, token: string): Promise<void> {
    this.#leases.release(token);
    if (!this.#hasLoggedEntries || this.#isClosed) return;
    this.#hasLoggedEntries = false;
    // Without this, the log has entries for which a disk that becomes full has no space in the database.
    await this.#use(({ database }) => database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#leases.close();
    (await this.#connection?.catch(() => undefined))?.database.close();
    this.#connection = undefined;
  }

  /** Calls a function with the database, again while it is locked. */
  async #use<Value>(act: (connection: Connection) => Value): Promise<Value> {
    let connection = await this.#getOpenConnection();
    while (this.#pauses.isDue) {
      await this.#pauses.pause();
      connection = await this.#getOpenConnection();
    }
    try {
      return await retryWhileBusy(() => this.#pauses.run(() => act(connection)));
    } catch (error) {
      throw addAdvice(error);
    }
  }

  async #getOpenConnection(): Promise<Connection> {
    if (!this.#isClosed) return await this.#getConnection();
    throw new SessionError(`The session store "${this.#path}" is closed: create a new one`, {
      reason: "closed",
    });
  }

  async #getConnection(): Promise<Connection> {
    const current = this.#connection;
    if (await this.#findChange() !== undefined && this.#connection === current) {
      this.#connection = undefined;
      (await current)?.database.close();
    }
    this.#connection ??= this.#connect();
    return await this.#connection;
  }

  async #connect(): Promise<Connection> {
    try {
      const database = await openDatabase(this.#path, createTables);
      return new Connection(database, this.#getInode() ?? null);
    } catch (error) {
      this.#connection = undefined;
      throw createOpenError(this.#path, error);
    }
  }

  /**
   * Checks that the open database is the one at the path: a file that was deleted or replaced could still be written, but no
   * later process would read it.
   */
  async #assertUnchanged(id: string): Promise<void> {
    const change = await this.#findChange();
    if (change) throw createLogChangedError(id, { path: this.#path, change });
  }

  async #findChange(): Promise<"deleted" | "replaced" | undefined> {
    const inode = (await this.#connection)?.inode ?? null;
    if (inode === null) return undefined;
    const current = this.#getInode();
    if (current === inode) return undefined;
    return current === undefined ? "deleted" : "replaced";
  }

  /** Returns the identity of the file at the path; `undefined` if there is no file. */
  #getInode(): number | null | undefined {
    return this.#path === MEMORY_PATH ? null : this.#files.stat(this.#path)?.inode;
  }

  #hasFile(extension: string): boolean {
    return this.#path === MEMORY_PATH || this.#files.stat(this.#path + extension) !== undefined;
  }
}

/** A database and its prepared statements. */
class Connection {
  readonly database: Database;
  /** Identity of the file; `null` if it is not known. */
  readonly inode: number | null;
  #statements: Statements | undefined;

  constructor(database: Database, inode: number | null) {
    this.database = database;
    this.inode = inode;
  }

  /** Appends entries; returns `false` if the session does not have the expected number of entries. */
  append(id: string, { header, entries, position, summary }: EntryAppend): boolean {
    const { addSession, setSummary } = this.#statements ??= prepareStatements(this.database);
    const text = encodeSummary(summary);
    const values = [text, summary.updated, position + entries.length, id] as const;
    const { changes } = position === 0
      ? addSession.run(...values, JSON.stringify(header), ...encodeOwner(header))
      : setSummary.run(...values, position);
    if (changes !== 1) return false;
    if (position === 0) addMembers(this.database, header);
    entries.forEach((entry, index) => this.#addEntry(id, position + index, entry));
    return true;
  }

  /** Commits a change with a sync to disk; returns `false` if the session is missing. */
  sync(id: string): boolean {
    const { database } = this;
    database.exec("PRAGMA synchronous = FULL");
    try {
      const update = database.prepare("UPDATE sessions SET syncs = syncs + 1 WHERE id = ?");
      return update.run(id).changes === 1;
    } finally {
      database.exec("PRAGMA synchronous = NORMAL");
    }
  }

  #addEntry(session: string, position: number, entry: StoredEntry): void {
    const { addEntry, addText } = this.#statements ??= prepareStatements(this.database);
    const { id, parentId, type, timestamp, line, searchText } = entry;
    const ids = [encodeText(id), parentId === null ? null : encodeText(parentId)] as const;
    const row = addEntry.run(session, position, ...ids, type, timestamp, line);
    const text = toIndexText(searchText);
    if (text !== "") addText.run(row.lastInsertRowid, text);
  }
}

/** Creates the error for a database that cannot be opened, without the SQL that SQLite's message may have. */
function createOpenError(path: string, error: unknown): unknown {
  if (error instanceof SessionError) return error;
  const [message] = getErrorMessage(addAdvice(error)).split("\n");
  return new Error(`the database "${path}" cannot be opened: ${message}`, { cause: error });
}

/** The statements that store entries. */
type Statements = Readonly<
  Record<"addSession" | "setSummary" | "addEntry" | "addText", Statement>
>;

function prepareStatements(database: Database): Statements {
  return {
    addSession: database.prepare(`
      INSERT INTO sessions (summary, updated, entries, id, header, cwd, tenant, user)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
    `),
    setSummary: database.prepare(`
      UPDATE sessions SET summary = ?, updated = ?, entries = ? WHERE id = ? AND entries = ?
    `),
    addEntry: database.prepare(`
      INSERT INTO entries (session, position, id, parent, type, timestamp, line)
      VALUES (?, ?, ?, ?, ?, ?, ?)
    `),
    addText: database.prepare("INSERT INTO entry_text (rowid, text) VALUES (?, ?)"),
  };
}

function selectAll(
  database: Database,
  { sql, values }: Query,
): readonly Record<string, unknown>[] {
  return database.prepare(sql).all(...values);
}

function readLines(
  database: Database,
  id: string,
  positions: readonly number[],
): readonly (string | undefined)[] {
  const rows = database.prepare(`
    SELECT line FROM json_each(?2) AS requested
    LEFT JOIN entries ON entries.session = ?1 AND entries.position = requested.value
    ORDER BY requested.key
  `).all(id, JSON.stringify(positions));
  return rows.map(({ line }) => line === null ? undefined : String(line));
}

function tryReadLine(database: Database, id: string, position: number): string | undefined {
  try {
    return readLines(database, id, [position])[0];
  } catch {
    return undefined;
  }
}
