/**
 * Sessions in one SQLite database, for hosts with many sessions.
 *
 * @module
 */

import type {
  CreateSessionOptions,
  ListSessionsOptions,
  SearchHit,
  SearchSessionsOptions,
  Session,
  SessionAccess,
  SessionStore,
  SessionSummary,
} from "../../core/session.ts";
import type { SessionEntryType, SessionHeader } from "../../core/session_entry.ts";
import { localFileSystem } from "../file/local_file_system.ts";
import { withWriterLock, type WriterLock } from "../lock/writer_lock.ts";
import { EntryEncoder } from "../store/entry_encoder.ts";
import { createHeader, decodeLine } from "../store/jsonl.ts";
import { addEntries, LiveSession } from "../store/live_session.ts";
import { DEFAULT_SEARCH_LIMIT, SearchQuery } from "../store/search.ts";
import {
  createAlreadyExistsError,
  createNotFoundError,
  toSessionError,
} from "../store/session_errors.ts";
import { checkSessionId, createRandomId, createSessionId } from "../store/session_id.ts";
import { SessionTree } from "../store/session_tree.ts";
import { selectSummaries, SummaryBuilder } from "../store/summary.ts";
import { type Database, openDatabase, runInTransaction } from "./sqlite_database.ts";
import { SqliteLog } from "./sqlite_log.ts";

/** Options for {@linkcode SqliteSessionStore}. */
export interface SqliteSessionStoreOptions {
  /** The database file; created if it does not exist. Locks are kept in the directory `<path>-locks`. */
  readonly path: string;
  /** Name of the host, shown to other processes that find a session locked. */
  readonly owner?: string;
  /** The clock, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Creates ids for entries. Default: twelve random letters and digits. */
  readonly newId?: () => string;
}

/**
 * Keeps sessions in one SQLite database with a write-ahead log and a full-text index. The time for listing and
 * searching does not depend on the number of entries. Uses the runtime's `node:sqlite`, which Node has since 22.13.
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
export class SqliteSessionStore implements SessionStore, AsyncDisposable {
  readonly #path: string;
  readonly #owner: string | undefined;
  readonly #now: () => number;
  readonly #newId: () => string;
  #database: Database | undefined;

  /** Creates a store; the database is opened on first use. */
  constructor(options: SqliteSessionStoreOptions) {
    this.#path = options.path;
    this.#owner = options.owner;
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? createRandomId;
  }

  /** Creates a session, open for writing. */
  async create(options: CreateSessionOptions = {}): Promise<Session> {
    const { id = createSessionId(this.#now()) } = options;
    checkSessionId(id);
    return await this.#withLock(id, async (database, lock) => {
      if (hasSession(database, id)) throw createAlreadyExistsError(id);
      const header = createHeader({ ...options, id, created: this.#now() });
      const summary = SummaryBuilder.from(header).build(0);
      const tree = new SessionTree();
      const encoder = new EntryEncoder(id);
      const entries = addEntries(tree, encoder, options.entries ?? []);
      const log = new SqliteLog({ database, header, tree, summary, lock });
      if (entries.length > 0) {
        const { error } = await log.append(entries);
        if (error !== undefined) throw error;
        await log.sync();
      }
      return new LiveSession({ header, access: "write", tree, log, encoder, ...this.#ports });
    });
  }

  /** Opens a session. */
  async open(
    id: string,
    { access = "write" }: { readonly access?: SessionAccess } = {},
  ): Promise<Session> {
    checkSessionId(id);
    const database = await this.#getDatabase(id);
    if (!hasSession(database, id)) throw createNotFoundError(id);
    if (access === "read") return this.#openSession(database, id);
    return await this.#withLock(id, (database, lock) => {
      return Promise.resolve(this.#openSession(database, id, lock));
    });
  }

  /** Lists all sessions, most recently written first. */
  async list(options: ListSessionsOptions = {}): Promise<readonly SessionSummary[]> {
    const database = await this.#getDatabase("");
    const rows = database.prepare("SELECT summary FROM sessions").all();
    return selectSummaries(rows.map(({ summary }) => JSON.parse(String(summary))), options);
  }

  /** Searches the full-text index. */
  async search(query: string, options: SearchSessionsOptions = {}): Promise<readonly SearchHit[]> {
    const { sessionId, limit = DEFAULT_SEARCH_LIMIT, signal } = options;
    const database = await this.#getDatabase(sessionId ?? "");
    if (sessionId !== undefined && !hasSession(database, sessionId)) {
      throw createNotFoundError(sessionId);
    }
    const parsed = new SearchQuery(query, options);
    if (parsed.words.length === 0) return [];
    const hits: SearchHit[] = [];
    for (const { session, line } of findMatchingRows(database, parsed.words, sessionId)) {
      if (hits.length >= limit || signal?.aborted) break;
      const decoded = decodeLine(String(line));
      if (!decoded || decoded.type === "duplicate") continue;
      const hit = parsed.findHit(String(session), decoded);
      if (hit) hits.push(hit);
    }
    return hits;
  }

  /** Deletes a session. */
  async delete(id: string): Promise<void> {
    checkSessionId(id);
    if (!hasSession(await this.#getDatabase(id), id)) throw createNotFoundError(id);
    await this.#withLock(id, (database, lock) => {
      runInTransaction(database, () => {
        database.prepare(
          "DELETE FROM entry_text WHERE rowid IN (SELECT number FROM entries WHERE session = ?)",
        ).run(id);
        database.prepare("DELETE FROM sessions WHERE id = ?").run(id);
      });
      lock.release();
      return Promise.resolve();
    });
  }

  /** Closes the database. Open sessions of this store can no longer be written to. */
  close(): Promise<void> {
    this.#database?.close();
    this.#database = undefined;
    return Promise.resolve();
  }

  /** Closes the database. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #ports(): { now: () => number; newId: () => string } {
    return { now: this.#now, newId: this.#newId };
  }

  async #getDatabase(id: string): Promise<Database> {
    try {
      return await Promise.resolve(this.#database ??= openDatabase(this.#path));
    } catch (error) {
      throw toSessionError(error, { id: id || this.#path, reason: "read_failed" });
    }
  }

  async #withLock<Value>(
    id: string,
    act: (database: Database, lock: WriterLock) => Promise<Value>,
  ): Promise<Value> {
    const database = await this.#getDatabase(id);
    return await withWriterLock({
      storage: localFileSystem,
      directory: `${this.#path}-locks`,
      sessionId: id,
      now: this.#now,
      name: this.#owner,
    }, (lock) => act(database, lock));
  }

  #openSession(database: Database, id: string, lock?: WriterLock): Session {
    const row = database.prepare("SELECT header, summary FROM sessions WHERE id = ?").get(id);
    if (!row) throw createNotFoundError(id);
    const header: SessionHeader = JSON.parse(String(row["header"]));
    const summary: SessionSummary = JSON.parse(String(row["summary"]));
    const tree = loadTree(database, id);
    const log = new SqliteLog({ database, header, tree, summary, lock });
    const access = lock ? "write" : "read";
    return new LiveSession({ header, access, tree, log, ...this.#ports });
  }
}

function hasSession(database: Database, id: string): boolean {
  return database.prepare("SELECT 1 FROM sessions WHERE id = ?").get(id) !== undefined;
}

function loadTree(database: Database, session: string): SessionTree {
  const tree = new SessionTree();
  const rows = database.prepare(
    "SELECT id, parent, type, timestamp FROM entries WHERE session = ? ORDER BY number",
  ).iterate(session);
  for (const { id, parent, type, timestamp } of rows) {
    tree.add({
      id: String(id),
      parentId: parent === null ? null : String(parent),
      type: String(type) as SessionEntryType,
      timestamp: Number(timestamp),
    });
  }
  return tree;
}

/** Finds the rows whose text has, for each word of the query, a word that begins with it. */
function findMatchingRows(
  database: Database,
  words: readonly string[],
  sessionId: string | undefined,
): Iterable<Record<string, unknown>> {
  const match = words.map((word) => `"${word}"*`).join(" ");
  return database.prepare(`
    SELECT session, line FROM entry_text
    JOIN entries ON entries.number = entry_text.rowid
    JOIN sessions ON sessions.id = entries.session
    WHERE entry_text MATCH ?1 AND (?2 IS NULL OR session = ?2)
    ORDER BY sessions.updated DESC, sessions.id DESC, entries.number
  `).iterate(match, sessionId ?? null);
}
