/**
 * The SQLite database of sessions. Sessions access SQLite only through this module.
 *
 * @module
 */

import type { DatabaseSync as Database, StatementSync as Statement } from "node:sqlite";
import { SessionError } from "../../core/errors.ts";
import { findBuiltinModule } from "../../platform/builtin_modules.ts";

export type { Database, Statement };

/** Version of the tables. */
const TABLES_VERSION = 1;

const TABLES = `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    header TEXT NOT NULL,
    summary TEXT NOT NULL,
    updated INTEGER NOT NULL,
    syncs INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    parent TEXT,
    type TEXT NOT NULL,
    timestamp INTEGER NOT NULL,
    line TEXT NOT NULL,
    UNIQUE (session, id)
  ) STRICT;

  CREATE INDEX entries_in_order ON entries (session, number);

  CREATE VIRTUAL TABLE entry_text USING fts5(
    text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 0'
  );

  PRAGMA user_version = ${TABLES_VERSION};
`;

/**
 * Opens a database of sessions; creates its tables if it has none.
 *
 * @throws {SessionError} With the reason `newer_version` if the tables have another version, and `read_failed` if the
 * runtime has no SQLite.
 */
export function openDatabase(path: string): Database {
  const sqlite = findBuiltinModule("node:sqlite");
  if (!sqlite) throw createNoSqliteError(path);
  const database = new sqlite.DatabaseSync(path);
  try {
    database.exec(
      "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; " +
        "PRAGMA foreign_keys = ON",
    );
    runInTransaction(database, () => createTables(database, path));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Runs a function in a transaction, which is rolled back if the function throws. */
export function runInTransaction<Value>(database: Database, act: () => Value): Value {
  database.exec("BEGIN IMMEDIATE");
  try {
    const value = act();
    database.exec("COMMIT");
    return value;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // On a full disk SQLite has already rolled back.
  }
}

function createNoSqliteError(path: string): SessionError {
  return new SessionError(
    `Cannot open the sessions in "${path}": this runtime has no node:sqlite: use Node 22.13 or later, Deno 2.2 or ` +
      "later, or Bun 1.4 or later, or keep the sessions in files with FileSessionStore",
    { reason: "read_failed" },
  );
}

function createTables(database: Database, path: string): void {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
  if (version === 0) database.exec(TABLES);
  else if (version !== TABLES_VERSION) {
    throw new SessionError(
      `Cannot open the sessions in "${path}": they have version ${version}, and this program supports ` +
        `version ${TABLES_VERSION}: update the program`,
      { reason: "newer_version" },
    );
  }
}
