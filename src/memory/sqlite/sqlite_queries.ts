/**
 * The queries for lists and searches, with only the conditions that are needed, so that SQLite uses the right index.
 *
 * @module
 */

import type { SessionFilter } from "../../core/session.ts";
import type { StorageListOptions, StorageSearch } from "../storage/entry_storage.ts";
import type { Database } from "./sqlite_database.ts";

type Value = string | number;
type Row = Record<string, unknown>;

/** A condition with the values of its placeholders. */
interface Condition {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Selects the summaries of a list. */
export function selectSummaryRows(
  database: Database,
  { limit = -1, after, ...filter }: StorageListOptions,
): readonly Row[] {
  const { sql, values } = joinConditions([
    ...createFilter(filter),
    ...(after ? [{ sql: "(updated, id) < (?, ?)", values: [after.updated, after.id] }] : []),
  ]);
  const query = `SELECT summary FROM sessions ${sql} ORDER BY updated DESC, id DESC LIMIT ?`;
  return database.prepare(query).all(...values, limit);
}

/** Selects the entries whose text has, for each word, a word that begins with it. */
export function selectMatchingRows(
  database: Database,
  { words, sessionId, limit, after, ...filter }: StorageSearch,
): readonly Row[] {
  const match = words.map((word) => `"${word}"*`).join(" ");
  const { sql, values } = joinConditions([
    { sql: "entry_text MATCH ?", values: [match] },
    ...(sessionId === undefined ? [] : [{ sql: "session = ?", values: [sessionId] }]),
    ...createFilter(filter),
    ...(after
      ? [{
        sql: "((updated, session) < (?, ?) OR session = ? AND position > ?)",
        values: [after.updated, after.id, after.id, after.position],
      }]
      : []),
  ]);
  return database.prepare(`
    SELECT session, updated, position, line FROM entry_text
    JOIN entries ON entries.number = entry_text.rowid
    JOIN sessions ON sessions.id = entries.session
    ${sql} ORDER BY updated DESC, session DESC, position LIMIT ?
  `).all(...values, limit);
}

function createFilter({ cwd, tenant, user }: SessionFilter): Condition[] {
  const equals = (sql: string, value: string | undefined) =>
    value === undefined ? [] : [{ sql, values: [value] }];
  return [
    ...equals("cwd = ?", cwd),
    ...equals("tenant = ?", tenant),
    ...equals("user = ?", user),
  ];
}

function joinConditions(conditions: readonly Condition[]): Condition {
  const sql = conditions.map(({ sql }) => sql).join(" AND ");
  return {
    sql: sql && `WHERE ${sql}`,
    values: conditions.flatMap(({ values }) => values),
  };
}
