/**
 * The log of one session as rows of a database.
 *
 * @module
 */

import type { SessionSummary } from "../../core/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import type { AppendResult, EntryLog } from "../store/entry_log.ts";
import { JournalDeduplicator } from "../store/journal_deduplicator.ts";
import { type DecodedLine, decodeLine, encodeEntry, restoreDuplicates } from "../store/jsonl.ts";
import { getSearchText } from "../store/search.ts";
import { type Database, runInTransaction, type Statement } from "./sqlite_database.ts";
import type { SessionTree } from "../store/session_tree.ts";
import { SummaryBuilder } from "../store/summary.ts";

/** What a {@linkcode SqliteLog} is made of. */
export interface SqliteLogOptions {
  /** The database. */
  readonly database: Database;
  /** The header. */
  readonly header: SessionHeader;
  /** The shape of the session; shared with it. */
  readonly tree: SessionTree;
  /** The summary of what is kept already. */
  readonly summary: SessionSummary;
  /** Fails when somebody else has taken the session over. */
  readonly assertLockHeld: () => void;
  /** Gives the session free. */
  readonly release: () => void;
}

/** A log in a database. */
export class SqliteLog implements EntryLog {
  readonly #options: SqliteLogOptions;
  readonly #deduplicator = new JournalDeduplicator();
  #summary: SummaryBuilder;
  #isUnsynced = false;
  #prepared: Statements | undefined;

  /** Opens the log. */
  constructor(parts: SqliteLogOptions) {
    this.#options = parts;
    this.#summary = new SummaryBuilder(parts.summary);
  }

  append(entries: readonly SessionEntry[]): Promise<AppendResult> {
    const before = this.#summary.build(0);
    try {
      this.#options.assertLockHeld();
      runInTransaction(this.#options.database, () => this.#insert(entries));
      this.#isUnsynced = true;
      return Promise.resolve({ kept: entries.length });
    } catch (error) {
      this.#summary = new SummaryBuilder(before);
      this.#deduplicator.forget(entries);
      return Promise.resolve({ kept: 0, error });
    }
  }

  /** A commit of its own, synced: it takes with it all that was committed before. */
  sync(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isUnsynced) this.#syncToDisk();
      this.#isUnsynced = false;
      resolve();
    });
  }

  async read(wanted: readonly number[]): Promise<readonly (SessionEntry | undefined)[]> {
    const lines = this.#readLines(wanted.map((position) => this.#options.tree.nodes[position]?.id));
    return await restoreDuplicates(lines, (sources) => Promise.resolve(this.#readLines(sources)));
  }

  close(): Promise<void> {
    this.#options.release();
    return Promise.resolve();
  }

  #readLines(ids: readonly (string | undefined)[]): DecodedLine[] {
    const rows = this.#options.database.prepare(`
      SELECT line FROM json_each(?2) AS wanted
      LEFT JOIN entries ON entries.session = ?1 AND entries.id = wanted.value
      ORDER BY wanted.key
    `).all(this.#options.header.id, JSON.stringify(ids));
    return rows.map(({ line }) => line === null ? undefined : decodeLine(String(line)));
  }

  #insert(entries: readonly SessionEntry[]): void {
    const { header } = this.#options;
    const { addSession, addEntry, addText, setSummary } = this.#statements();
    addSession.run(header.id, JSON.stringify(header));
    for (const entry of entries) {
      const { id, parentId, type, timestamp } = entry;
      const echoOf = this.#deduplicator.findOriginal(entry);
      const line = encodeEntry(entry, echoOf);
      const row = addEntry.run(header.id, id, parentId, type, timestamp, line);
      const text = echoOf === undefined ? getSearchText(entry) : "";
      if (text !== "") addText.run(row.lastInsertRowid, text);
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

/** The statements that keep entries. */
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
