/**
 * The log of one session as rows of a database.
 *
 * @module
 */

import type { SessionDamage, SessionSummary } from "../../core/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import type { WriterLock } from "../lock/writer_lock.ts";
import type { AppendResult, EntryLog } from "../store/entry_log.ts";
import type { EncodedEntry } from "../store/entry_encoder.ts";
import { type DecodedLine, decodeLine, restoreDuplicates } from "../store/jsonl.ts";
import type { SessionTree } from "../store/session_tree.ts";
import { SummaryBuilder } from "../store/summary.ts";
import { type Database, runInTransaction, type Statement } from "./sqlite_database.ts";

/** Options for {@linkcode SqliteLog}. */
export interface SqliteLogOptions {
  /** The database. */
  readonly database: Database;
  /** The header. */
  readonly header: SessionHeader;
  /** The tree of the session; the session adds entries to it. */
  readonly tree: SessionTree;
  /** The summary of the stored entries. */
  readonly summary: SessionSummary;
  /** The lock of the writer. Default: none; the log is read-only. */
  readonly lock?: WriterLock | undefined;
}

/** A log in a database. */
export class SqliteLog implements EntryLog {
  readonly #options: SqliteLogOptions;
  #summary: SummaryBuilder;
  #isUnsynced = false;
  #prepared: Statements | undefined;

  constructor(options: SqliteLogOptions) {
    this.#options = options;
    this.#summary = new SummaryBuilder(options.summary);
  }

  append(entries: readonly EncodedEntry[]): Promise<AppendResult> {
    const before = this.#summary.build(0);
    try {
      this.#options.lock?.assertHeld();
      runInTransaction(this.#options.database, () => this.#insert(entries));
      this.#isUnsynced = true;
      return Promise.resolve({ kept: entries.length });
    } catch (error) {
      this.#summary = new SummaryBuilder(before);
      return Promise.resolve({ kept: 0, error });
    }
  }

  /** Commits once with a sync to disk, which also syncs all earlier commits. */
  sync(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isUnsynced) this.#syncToDisk();
      this.#isUnsynced = false;
      resolve();
    });
  }

  async read(positions: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const { nodes } = this.#options.tree;
    const lines = this.#readLines(positions.map((position) => nodes[position]?.id));
    return await restoreDuplicates(lines, (sources) => Promise.resolve(this.#readLines(sources)));
  }

  locate(position: number): Pick<SessionDamage, "offset" | "length"> {
    return { offset: position, length: 0 };
  }

  close(): Promise<void> {
    this.#options.lock?.release();
    return Promise.resolve();
  }

  #readLines(ids: readonly (string | undefined)[]): DecodedLine[] {
    const rows = this.#options.database.prepare(`
      SELECT line FROM json_each(?2) AS requested
      LEFT JOIN entries ON entries.session = ?1 AND entries.id = requested.value
      ORDER BY requested.key
    `).all(this.#options.header.id, JSON.stringify(ids));
    return rows.map(({ line }) => line === null ? undefined : decodeLine(String(line)));
  }

  #insert(entries: readonly EncodedEntry[]): void {
    const { header } = this.#options;
    const { addSession, addEntry, addText, setSummary } = this.#statements();
    addSession.run(header.id, JSON.stringify(header));
    for (const { entry, line, searchText } of entries) {
      const { id, parentId, type, timestamp } = entry;
      const row = addEntry.run(header.id, id, parentId, type, timestamp, line);
      if (searchText !== "") addText.run(row.lastInsertRowid, searchText);
      this.#summary.add(entry);
    }
    const summary = this.#summary.build(0);
    setSummary.run(JSON.stringify(summary), summary.updated, header.id);
  }

  #statements(): Statements {
    this.#prepared ??= prepareStatements(this.#options.database);
    return this.#prepared;
  }

  #syncToDisk(): void {
    const { database, header } = this.#options;
    database.exec("PRAGMA synchronous = FULL");
    try {
      database.prepare("UPDATE sessions SET syncs = syncs + 1 WHERE id = ?").run(header.id);
    } finally {
      database.exec("PRAGMA synchronous = NORMAL");
    }
  }
}

/** The statements that store entries. */
type Statements = Readonly<
  Record<"addSession" | "addEntry" | "addText" | "setSummary", Statement>
>;

function prepareStatements(database: Database): Statements {
  return {
    addSession: database.prepare(
      "INSERT INTO sessions (id, header, summary, updated) VALUES (?, ?, '{}', 0) ON CONFLICT DO NOTHING",
    ),
    addEntry: database.prepare(
      "INSERT INTO entries (session, id, parent, type, timestamp, line) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    addText: database.prepare("INSERT INTO entry_text (rowid, text) VALUES (?, ?)"),
    setSummary: database.prepare("UPDATE sessions SET summary = ?, updated = ? WHERE id = ?"),
  };
}
