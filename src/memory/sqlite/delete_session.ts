/**
 * Deletes sessions from a database, in parts.
 *
 * To remove its words so that they cannot be restored, the full-text index takes about half a millisecond for each entry.
 * Long sessions are therefore deleted in several transactions, between which the event loop runs.
 *
 * @module
 */

import { decodeLine } from "../store/jsonl.ts";
import { runOtherTasks } from "../store/run_other_tasks.ts";
import { PARTLY_DELETED } from "./session_rows.ts";
import {
  type Database,
  isBusy,
  isCorrupt,
  isDiskFull,
  runInTransaction,
} from "./sqlite_database.ts";
import { getStoredText, replaceTextIndex } from "./sqlite_tables.ts";

/** Maximum length of the indexed texts that one transaction removes, in characters, which take some 10 ms. */
const MAX_TEXT_LENGTH = 8 * 1024;
/** Maximum length of the lines that one transaction reads, in UTF-16 code units; a single line may be longer. */
const MAX_LINES_LENGTH = 1024 * 1024;
/** Maximum number of entries that one transaction deletes, of which many may have no text. */
const MAX_ENTRIES = 256;

/** An entry to be deleted. */
interface DeletedEntry {
  readonly number: number;
  /** The text that the index has; `undefined` if it is not known, since the line was changed. */
  readonly text: string | undefined;
}

/** Deletes a session, part by part; resolves to `false` if there is none. `use` calls a function with the database. */
export async function deleteSession(
  id: string,
  use: <Value>(act: (database: Database) => Value) => Promise<Value>,
): Promise<boolean> {
  for (let isFirst = true;; isFirst = false) {
    const isDeleted = await use((database) =>
      writeOnFullDisk(database, () =>
        runInTransaction(database, () => {
          // Another process may have deleted the rest, and created a session with this id.
          if (!isFirst && !isPartlyDeleted(database, id)) return true;
          return deletePart(database, id);
        }))
    );
    if (isDeleted !== undefined) return isDeleted;
    await runOtherTasks();
  }
}

/** Whether a session is partly deleted. */
export function isPartlyDeleted(database: Database, id: string): boolean {
  const row = database.prepare("SELECT entries FROM sessions WHERE id = ?").get(id);
  return row?.["entries"] === PARTLY_DELETED;
}

/** Deletes the next entries of a session, or with the last ones the session; returns `undefined` if more follow. */
function deletePart(database: Database, id: string): boolean | undefined {
  const { entries, isRest } = readPart(database, id);
  // Without its row, another program has deleted the session.
  if (!isRest && !markAsPartlyDeleted(database, id)) return deleteAtOnce(database, id);
  if (!removeTexts(database, entries)) return deleteAtOnce(database, id);
  if (isRest) return deleteRows(database, id);
  const numbers = JSON.stringify(entries.map(({ number }) => number));
  database.prepare("DELETE FROM entries WHERE number IN (SELECT value FROM json_each(?))")
    .run(numbers);
  return undefined;
}

/** Marks a session; returns `false` if there is none. Its summary has the beginning of its text. */
function markAsPartlyDeleted(database: Database, id: string): boolean {
  const mark = database.prepare("UPDATE sessions SET entries = ?, summary = '' WHERE id = ?");
  return mark.run(PARTLY_DELETED, id).changes === 1;
}

/** Deletes a session of which the index has words that are not known; returns `false` if there is none. */
function deleteAtOnce(database: Database, id: string): boolean {
  const isDeleted = deleteRows(database, id);
  replaceTextIndex(database);
  return isDeleted;
}

/** Reads as many entries of a session as one transaction deletes; `isRest`: there are no others. */
function readPart(
  database: Database,
  id: string,
): { readonly entries: readonly DeletedEntry[]; readonly isRest: boolean } {
  const entries: DeletedEntry[] = [];
  let textLength = 0;
  let linesLength = 0;
  const rows = database.prepare("SELECT number, line FROM entries WHERE session = ?").iterate(id);
  for (const row of rows) {
    const isFull = entries.length === MAX_ENTRIES || textLength > MAX_TEXT_LENGTH ||
      linesLength > MAX_LINES_LENGTH;
    if (isFull) return { entries, isRest: false };
    const line = String(row["line"]);
    const text = decodeLine(line) ? getStoredText(line) : undefined;
    entries.push({ number: Number(row["number"]), text });
    textLength += text?.length ?? 0;
    linesLength += line.length;
  }
  return { entries, isRest: true };
}

/** Removes the words of entries from the index; returns `false` if it cannot remove all of them. */
function removeTexts(database: Database, entries: readonly DeletedEntry[]): boolean {
  const removeText = database.prepare(
    "INSERT INTO entry_text (entry_text, rowid, text) VALUES ('delete', ?, ?)",
  );
  try {
    for (const { number, text } of entries) {
      if (text === undefined) return false;
      if (text !== "") removeText.run(number, text);
    }
    return true;
  } catch (error) {
    if (isCorrupt(error)) return false;
    throw error;
  }
}

/** Deletes a session with its remaining entries; returns `false` if there is none. */
function deleteRows(database: Database, id: string): boolean {
  const { changes } = database.prepare("DELETE FROM sessions WHERE id = ?").run(id);
  database.prepare("DELETE FROM entries WHERE session = ?").run(id);
  database.prepare("DELETE FROM session_members WHERE session = ?").run(id);
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
    if (!isDiskFull(error) || !moveJournalToMemory(database)) throw error;
    try {
      return act();
    } finally {
      database.exec("PRAGMA journal_mode = WAL");
    }
  }
}

/** Keeps the journal in memory; returns `false` if another process has the database open, and needs the log. */
function moveJournalToMemory(database: Database): boolean {
  try {
    database.exec("PRAGMA journal_mode = MEMORY");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
