/**
 * The queries for lists and searches, with only the conditions that are needed, so that SQLite uses the right index.
 *
 * @module
 */

import type { SessionFilter } from "../../core/sessions/session.ts";
import type { StorageListOptions, StorageSearch } from "../storage/entry_storage.ts";
import { encodeText } from "../storage/stored_text.ts";
import { listMembers } from "../store/session_filter.ts";
import { encodeWord } from "./index_words.ts";
import { PARTLY_DELETED, SESSION_COLUMNS } from "./session_rows.ts";

type Value = string | number;

/** A query or a condition, with the values of its placeholders. */
export interface Query {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Selects the entries of a session. The range of their numbers spares the matches in most of the others. */
const IN_SESSION = `session = ? AND entry_text.rowid BETWEEN
  (SELECT min(number) FROM entries WHERE session = ?) AND (SELECT max(number) FROM entries WHERE session = ?)`;

/** Creates the query for the summaries of a list. */
export function createListQuery({ limit = -1, after, ...filter }: StorageListOptions): Query {
  const { sql, values } = joinConditions([
    ...createFilter(filter),
    ...(after ? [{ sql: "(updated, id) < (?, ?)", values: [after.updated, after.id] }] : []),
  ]);
  return {
    sql: `SELECT ${SESSION_COLUMNS} FROM sessions ${sql} ORDER BY updated DESC, id DESC LIMIT ?`,
    values: [...values, limit],
  };
}

/** Creates the query for the entries whose text has, for each word, a word that begins with it. */
export function createSearchQuery(
  { words, sessionId, limit, after, ...filter }: StorageSearch,
): Query {
  const match = words.map((word) => `"${encodeWord(word)}"*`).join(" ");
  const { sql, values } = joinConditions([
    { sql: "entry_text MATCH ?", values: [match] },
    { sql: "sessions.entries <> ?", values: [PARTLY_DELETED] },
    ...(sessionId === undefined ? [] : [{ sql: IN_SESSION, values: Array(3).fill(sessionId) }]),
    ...createFilter(filter),
    ...(after
      ? [{
        sql: "((updated, session) < (?, ?) OR session = ? AND position > ?)",
        values: [after.updated, after.id, after.id, after.position],
      }]
      : []),
  ]);
  return {
    // Two steps, so that the lines of all matches are not read before they are sorted.
    sql: `
      WITH found AS MATERIALIZED (
        SELECT number, updated FROM entry_text
        JOIN entries ON entries.number = entry_text.rowid
        JOIN sessions ON sessions.id = entries.session
        ${sql} ORDER BY updated DESC, session DESC, position LIMIT ?
      )
      SELECT session, updated, position, line FROM found JOIN entries USING (number)
      ORDER BY updated DESC, session DESC, position
    `,
    values: [...values, limit],
  };
}

function createFilter({ cwd, tenant, user, metadata }: SessionFilter): Query[] {
  const equals = (sql: string, value: string | undefined) =>
    value === undefined ? [] : [{ sql, values: [encodeText(value)] }];
  return [
    ...equals("cwd = ?", cwd),
    ...equals("tenant = ?", tenant),
    ...equals("user = ?", user),
    ...listMembers(metadata).map((member) => ({
      sql: "sessions.id IN (SELECT session FROM session_members WHERE member = ?)",
      values: [member],
    })),
  ];
}

function joinConditions(conditions: readonly Query[]): Query {
  const sql = conditions.map(({ sql }) => sql).join(" AND ");
  return {
    sql: sql && `WHERE ${sql}`,
    values: conditions.flatMap(({ values }) => values),
  };
}
