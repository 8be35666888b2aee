/**
 * The SQLite database of sessions. Sessions access SQLite only through this module.
 *
 * Calls of SQLite are synchronous, and a lock of another process would block the event loop for as long as SQLite waits
 * for it. So SQLite does not wait: a call that finds the database locked is repeated after a pause. A worker would not
 * block either, but would copy every entry twice and need a file of its own.
 *
 * @module
 */

import type { DatabaseSync as Database, StatementSync as Statement } from "node:sqlite";
import { getErrorMessage, SessionError } from "../../core/errors/errors.ts";
import { findBuiltinModule } from "../../platform/builtin_modules.ts";
import { system } from "../../platform/system.ts";
import { isMissingPermission } from "../../platform/system_error.ts";

export type { Database, Statement };

/** Path of a database in memory. */
export const MEMORY_PATH = ":memory:";

/** Results of SQLite: the primary code, which Deno does not report, and the text, which other extensions may replace. */
const RESULTS = {
  busy: { code: 5, text: "database is locked" },
  readOnly: { code: 8, text: "attempt to write a readonly database" },
  corrupt: { code: 11, text: "database disk image is malformed" },
  full: { code: 13, text: "database or disk is full" },
  cannotOpen: { code: 14, text: "unable to open database file" },
} as const;

/** Time after which a locked database is an error, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;
/** Maximum pause before a call is repeated, in milliseconds. */
const MAX_PAUSE_MS = 50;
/** Mode of new files: only the owner can read conversations. */
const PRIVATE_MODE = 0o600;

/** Creates the tables of a database that has none, and checks those of others; `isReadOnly`: it cannot be changed. */
export type CreateTables = (
  database: Database,
  path: string,
  options?: { readonly isReadOnly?: boolean },
) => void;

/**
 * Opens a database. One that cannot be written is opened for reading.
 *
 * @throws {SessionError} With the reason `read_failed` if the runtime has no SQLite, or one without full-text search.
 */
export async function openDatabase(path: string, createTables: CreateTables): Promise<Database> {
  if (path !== MEMORY_PATH) createPrivateFile(path);
  let database: Database | undefined;
  try {
    const connection = database = createConnection(path);
    return await retryWhileBusy(() => prepareDatabase(connection, path, createTables));
  } catch (error) {
    database?.close();
    if (hasNoFullTextSearch(error)) throw createNoSqliteError(path);
    if (isReadOnlyError(error)) return openReadOnly(path, { createTables, cause: error });
    throw error;
  }
}

/** Calls a function, and again after a pause as long as another process has the database locked. */
export async function retryWhileBusy<Value>(act: () => Value): Promise<Value> {
  const start = performance.now();
  for (let pause = 1;; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return act();
    } catch (error) {
      const isOver = performance.now() - start > BUSY_TIMEOUT_MS;
      if (!isBusy(error) || isOver) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
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

/**
 * Moves all of the write-ahead log into the database, and empties the log.
 *
 * @throws {Error} That the database is locked, while another process reads the log.
 */
export function emptyWriteAheadLog(database: Database): void {
  const result = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  if (result?.["busy"]) throw new Error(RESULTS.busy.text);
}

/** Whether an error means that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return isResult(error, "full");
}

/** Whether an error means that pages of the database, or its full-text index, are damaged. */
export function isCorrupt(error: unknown): boolean {
  return isResult(error, "corrupt");
}

/** Whether an error means that another process has the database locked. */
export function isBusy(error: unknown): boolean {
  return isResult(error, "busy");
}

/** Returns an error with the advice for its cause, if there is one. */
export function addAdvice(error: unknown): unknown {
  const advice = findAdvice(error);
  return advice === undefined
    ? error
    : new Error(`${advice} (${getErrorMessage(error)})`, { cause: error });
}

function findAdvice(error: unknown): string | undefined {
  if (isDiskFull(error)) return "the disk is full: free some space";
  if (!isCorrupt(error)) return undefined;
  return "the database is damaged: restore a backup, or copy its sessions that can be read into a new one";
}

function isReadOnlyError(error: unknown): boolean {
  return isResult(error, "readOnly") || isResult(error, "cannotOpen") || isMissingPermission(error);
}

/** Whether SQLite is built without full-text search, as that of Node 22.13 to 22.15 and 23. */
function hasNoFullTextSearch(error: unknown): boolean {
  return getErrorMessage(error).includes("no such module: fts5");
}

function isResult(error: unknown, name: keyof typeof RESULTS): boolean {
  if (!(error instanceof Error)) return false;
  const { code, text } = RESULTS[name];
  const errcode = "errcode" in error ? error.errcode : undefined;
  return typeof errcode === "number" ? (errcode & 0xff) === code : error.message.includes(text);
}

function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // On a full disk SQLite has already rolled back.
  }
}

function createConnection(path: string, options: { readonly readOnly?: boolean } = {}): Database {
  const sqlite = findBuiltinModule("node:sqlite");
  if (!sqlite) throw createNoSqliteError(path);
  return new sqlite.DatabaseSync(path, options);
}

function prepareDatabase(
  database: Database,
  path: string,
  createTables: CreateTables,
): Database {
  database.exec("PRAGMA busy_timeout = 0; PRAGMA secure_delete = ON");
  // First, since the journal mode stays in the file, which may be that of another program.
  runInTransaction(database, () => createTables(database, path));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  return database;
}

/** Opens a database on a file system or with permissions that allow only reading. */
function openReadOnly(
  path: string,
  { createTables, cause }: { readonly createTables: CreateTables; readonly cause: unknown },
): Database {
  // Without a writer there is no log of changes; SQLite then reads it only if it is declared immutable.
  const uri = `file:${path.split("/").map(encodeURIComponent).join("/")}?immutable=1`;
  for (const name of [path, uri]) {
    let database: Database | undefined;
    try {
      database = createConnection(name, { readOnly: true });
      createTables(database, path, { isReadOnly: true });
      return database;
    } catch (error) {
      database?.close();
      if (error instanceof SessionError) throw error;
    }
  }
  throw cause;
}

/** Creates the file, since SQLite would create it with the default mode; its other files get the mode of this one. */
function createPrivateFile(path: string): void {
  try {
    system.openSync(path, { write: true, create: true, mode: PRIVATE_MODE }).close();
  } catch {
    // SQLite reports the cause, or opens the database for reading.
  }
}

function createNoSqliteError(path: string): SessionError {
  return new SessionError(
    `Cannot open the sessions in "${path}": this runtime has no node:sqlite with full-text search: use Node 22.16 or ` +
      "later, Deno 2.8 or later, or Bun 1.4 or later, or keep the sessions in files with FileSessionStore",
    { reason: "read_failed" },
  );
}
