/**
 * The log of one session as rows of a database.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import type { SessionSummary } from "../core/session.ts";
import type { SessionEntry, SessionHeader } from "../core/session_entry.ts";
import type { AppendOutcome, EntryLog } from "./entry_log.ts";
import { JournalEchoes } from "./journal_echo.ts";
import { type DecodedEntry, decodeLine, encodeEntry, fillEchoes } from "./jsonl.ts";
import { searchedText } from "./search.ts";
import { inTransaction } from "./sqlite_database.ts";
import { SummaryDraft } from "./summary.ts";

/** What a {@linkcode SqliteLog} is made of. */
export interface SqliteLogParts {
  /** The database. */
  readonly database: DatabaseSync;
  /** The header. */
  readonly header: SessionHeader;
  /** The summary of what is kept already. */
  readonly summary: SessionSummary;
  /** Fails when somebody else has taken the session over. */
  readonly mustBeOurs: () => void;
  /** Gives the session free. */
  readonly free: () => void;
}

/** A log in a database. */
export class SqliteLog implements EntryLog {
  readonly #parts: SqliteLogParts;
  readonly #echoes = new JournalEchoes();
  #summary: SummaryDraft;
  #isUnsynced = false;

  /** Opens the log. */
  constructor(parts: SqliteLogParts) {
    this.#parts = parts;
    this.#summary = new SummaryDraft(parts.summary);
  }

  append(entries: readonly SessionEntry[]): Promise<AppendOutcome> {
    const before = this.#summary.finish(0);
    try {
      this.#parts.mustBeOurs();
      inTransaction(this.#parts.database, () => this.#insert(entries));
      this.#isUnsynced = true;
      return Promise.resolve({ kept: entries.length });
    } catch (error) {
      this.#summary = new SummaryDraft(before);
      this.#echoes.forget(entries);
      return Promise.resolve({ kept: 0, error });
    }
  }

  /** A commit of its own, synced: it takes with it all that was committed before. */
  sync(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isUnsynced) this.#sync();
      this.#isUnsynced = false;
      resolve();
    });
  }

  async read(ids: readonly string[]): Promise<readonly SessionEntry[]> {
    const select = this.#parts.database.prepare(
      "SELECT line FROM entries WHERE session = ? AND id IN (SELECT value FROM json_each(?))",
    );
    const fetch = (ids: readonly string[]): Promise<DecodedEntry[]> => {
      const rows = select.all(this.#parts.header.id, JSON.stringify(ids));
      return Promise.resolve(
        rows.map(({ line }) => decodeLine(String(line))).filter((line) => line.type === "entry"),
      );
    };
    return await fillEchoes(await fetch(ids), fetch);
  }

  close(): Promise<void> {
    this.#parts.free();
    return Promise.resolve();
  }

  #insert(entries: readonly SessionEntry[]): void {
    const { database, header } = this.#parts;
    database.prepare(
      "INSERT INTO sessions (id, header, summary, updated) VALUES (?, ?, '{}', 0) ON CONFLICT DO NOTHING",
    ).run(header.id, JSON.stringify(header));
    const insertEntry = database.prepare(
      "INSERT INTO entries (session, id, parent, type, timestamp, line) VALUES (?, ?, ?, ?, ?, ?)",
    );
    const insertText = database.prepare("INSERT INTO entry_text (rowid, text) VALUES (?, ?)");
    for (const entry of entries) {
      const { id, parentId, type, timestamp } = entry;
      const echoOf = this.#echoes.take(entry);
      const line = encodeEntry(entry, echoOf);
      const row = insertEntry.run(header.id, id, parentId, type, timestamp, line);
      const text = echoOf === undefined ? searchedText(entry) : "";
      if (text !== "") insertText.run(row.lastInsertRowid, text);
      this.#summary.add(entry);
    }
    const summary = this.#summary.finish(0);
    database.prepare("UPDATE sessions SET summary = ?, updated = ? WHERE id = ?")
      .run(JSON.stringify(summary), summary.updated, header.id);
  }

  #sync(): void {
    const { database, header } = this.#parts;
    database.exec("PRAGMA synchronous = FULL");
    try {
      database.prepare("UPDATE sessions SET syncs = syncs + 1 WHERE id = ?").run(header.id);
    } finally {
      database.exec("PRAGMA synchronous = NORMAL");
    }
  }
}
