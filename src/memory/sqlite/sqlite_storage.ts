/**
 * A storage in one SQLite database.
 *
 * @module
 */

import { SessionError } from "../../core/errors.ts";
import type { SessionSummary } from "../../core/session.ts";
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
import { readOutline } from "./read_outline.ts";
import {
  type Database,
  isDiskFull,
  MEMORY_PATH,
  openDatabase,
  retryWhileBusy,
  runInTransaction,
  type Statement,
} from "./sqlite_database.ts";
import { createListQuery, createSearchQuery, type Query } from "./sqlite_queries.ts";
import { createTables, getStoredText } from "./sqlite_tables.ts";

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
  readonly #leases: LockFileLeases | MemoryLeases;
  #connection: Promise<Connection> | undefined;
  #isClosed = false;
  /** Whether a commit was not synced to disk. */
  #isUnsynced = false;

  constructor({ path, now, files }: SqliteStorageOptions) {
    this.#path = path;
    this.#leases = path === MEMORY_PATH
      ? new MemoryLeases()
      : new LockFileLeases(files, `${path}-locks`, now);
  }

  async append(id: string, append: EntryAppend): Promise<boolean> {
    if (!this.#leases.isHeld(append.token)) return false;
    return await this.#use((connection) => {
      const isAppended = runInTransaction(connection.database, () => connection.append(id, append));
      if (isAppended) this.#isUnsynced = true;
      return isAppended;
    });
  }

  /** Commits once with a sync to disk, which also syncs all earlier commits. */
  async sync(id: string): Promise<void> {
    if (!this.#isUnsynced) return;
    await this.#use((connection) => connection.sync(id));
    this.#isUnsynced = false;
  }

  async load(id: string): Promise<StoredSession | undefined> {
    return await this.#use(({ database }) => {
      const row = database.prepare("SELECT header, summary, entries FROM sessions WHERE id = ?")
        .get(id);
      return row && {
        header: JSON.parse(String(row["header"])),
        summary: JSON.parse(String(row["summary"])),
        outline: readOutline(database, id, Number(row["entries"])),
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
      selectAll(database, createListQuery(options)).map(({ summary }) =>
        JSON.parse(String(summary))
      )
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

  async delete(id: string): Promise<boolean> {
    return await this.#use(({ database }) => {
      const isDeleted = writeOnFullDisk(
        database,
        () => runInTransaction(database, () => deleteSession(database, id)),
      );
      // The deleted text is also in the write-ahead log.
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return isDeleted;
    });
  }

  async lease(id: string, request: LeaseRequest): Promise<LeaseResult> {
    return await this.#leases.lease(id, request);
  }

  async release(_id: string, token: string): Promise<void> {
    this.#leases.release(token);
    if (!this.#connection || this.#isClosed) return;
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
    if (this.#isClosed) {
      throw new SessionError(`The session store "${this.#path}" is closed: create a new one`, {
        reason: "closed",
      });
    }
    this.#connection ??= this.#connect();
    const connection = await this.#connection;
    return await retryWhileBusy(() => act(connection));
  }

  async #connect(): Promise<Connection> {
    try {
      return new Connection(await openDatabase(this.#path, createTables));
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }
}

/** A database and its prepared statements. */
class Connection {
  readonly database: Database;
  #statements: Statements | undefined;

  constructor(database: Database) {
    this.database = database;
  }

  /** Appends entries; returns `false` if the session does not have the expected number of entries. */
  append(id: string, { header, entries, position, summary }: EntryAppend): boolean {
    const { addSession, setSummary } = this.#statements ??= prepareStatements(this.database);
    const { cwd = null, tenant = null, user = null } = header;
    const text = JSON.stringify(summary);
    const values = [text, summary.updated, position + entries.length, id] as const;
    const { changes } = position === 0
      ? addSession.run(...values, JSON.stringify(header), cwd, tenant, user)
      : setSummary.run(...values, position);
    if (changes !== 1) return false;
    entries.forEach((entry, index) => this.#addEntry(id, position + index, entry));
    return true;
  }

  /** Commits a change with a sync to disk. */
  sync(id: string): void {
    const { database } = this;
    database.exec("PRAGMA synchronous = FULL");
    try {
      database.prepare("UPDATE sessions SET syncs = syncs + 1 WHERE id = ?").run(id);
    } finally {
      database.exec("PRAGMA synchronous = NORMAL");
    }
  }

  #addEntry(session: string, position: number, entry: StoredEntry): void {
    const { addEntry, addText } = this.#statements ??= prepareStatements(this.database);
    const { id, parentId, type, timestamp, line, searchText } = entry;
    const row = addEntry.run(session, position, id, parentId, type, timestamp, line);
    if (searchText !== "") addText.run(row.lastInsertRowid, searchText);
  }
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

/** Deletes a session with its entries and their words in the index; returns `false` if there is none. */
function deleteSession(database: Database, id: string): boolean {
  const { changes } = database.prepare("DELETE FROM sessions WHERE id = ?").run(id);
  const removeText = database.prepare(
    "INSERT INTO entry_text (entry_text, rowid, text) VALUES ('delete', ?, ?)",
  );
  const rows = database.prepare("SELECT number, line FROM entries WHERE session = ?").all(id);
  for (const { number, line } of rows) {
    const text = getStoredText(String(line));
    if (text !== "") removeText.run(Number(number), text);
  }
  database.prepare("DELETE FROM entries WHERE session = ?").run(id);
  return changes === 1;
}

/**
 * Runs a transaction that frees space. On a full disk, the write-ahead log cannot grow: the transaction is then repeated
 * with its journal in memory, where a power failure meanwhile could damage the database.
 */
function writeOnFullDisk<Value>(database: Database, act: () => Value): Value {
  try {
    return act();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    database.exec("PRAGMA journal_mode = MEMORY");
    try {
      return act();
    } finally {
      database.exec("PRAGMA journal_mode = WAL");
    }
  }
}
