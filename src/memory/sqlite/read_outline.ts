/**
 * Reads the outline of a session from a database, of which pages may be damaged.
 *
 * @module
 */

import type { EntryOutline, SessionEntryType } from "../../core/sessions/session_entry.ts";
import { createOutline } from "../storage/create_outline.ts";
import { decodeText } from "../storage/stored_text.ts";
import type { Database } from "./sqlite_database.ts";

type Row = Record<string, unknown>;

const COLUMNS = "position, id, parent, type, timestamp";

/**
 * The queries that find entries: by the index, which has all columns, then around a damaged page of the index, then in the
 * table. Each ends at a damaged page.
 */
const QUERIES = [
  `SELECT ${COLUMNS} FROM entries WHERE session = ? ORDER BY position`,
  `SELECT ${COLUMNS} FROM entries WHERE session = ? ORDER BY position DESC`,
  `SELECT ${COLUMNS} FROM entries NOT INDEXED WHERE session = ? ORDER BY number`,
  `SELECT ${COLUMNS} FROM entries NOT INDEXED WHERE session = ? ORDER BY number DESC`,
];

/** Reads the outline of a session with `count` entries; `undefined` for entries that cannot be found. */
export function readOutline(
  database: Database,
  sessionId: string,
  count: number,
): readonly (EntryOutline | undefined)[] {
  const entries = new Map<number, EntryOutline>();
  for (const query of QUERIES) {
    if (entries.size === count) break;
    for (const row of readUntilDamage(database, query, sessionId)) {
      const position = Number(row["position"]);
      if (position < count && !entries.has(position)) entries.set(position, toOutline(row));
    }
  }
  return createOutline(count, entries);
}

function readUntilDamage(database: Database, query: string, sessionId: string): readonly Row[] {
  const statement = database.prepare(query);
  try {
    return statement.all(sessionId);
  } catch {
    return readUntilError(statement.iterate(sessionId));
  }
}

/** Reading row by row takes three times as long, and has the rows before the error. */
function readUntilError(rows: Iterable<Row>): readonly Row[] {
  const read: Row[] = [];
  try {
    for (const row of rows) read.push(row);
  } catch {
    // The rows behind the damaged page may be found by another query.
  }
  return read;
}

function toOutline({ id, parent, type, timestamp }: Row): EntryOutline {
  return {
    type: String(type) as SessionEntryType,
    id: decodeText(String(id)),
    parentId: parent === null ? null : decodeText(String(parent)),
    timestamp: Number(timestamp),
  };
}
