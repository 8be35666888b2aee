/**
 * The queries for lists and searches, with only the conditions that are needed, so that Postgres uses the right index.
 *
 * @module
 */

import type { DeleteSessionsOptions, SessionFilter } from "../../core/sessions/session.ts";
import type { StorageListOptions, StorageSearch } from "../storage/entry_storage.ts";
import { encodeText } from "../storage/stored_text.ts";
import { listMembers } from "../store/session_filter.ts";
import type { QuotedSchema } from "./postgres_tables.ts";
import { SESSION_COLUMNS } from "./stored_session.ts";
import { createWordQuery } from "./word_index.ts";

/**
 * The time at which a session was created: at first, a fork has only older entries. Read by a pattern, since a header that is
 * damaged is no JSON. No other text in JSON has these quotes.
 */
const CREATED =
  `coalesce(substring(header from '"created":(-?[0-9]+)')::double precision, updated)`;

/** A query with the values of its placeholders. */
export interface Query {
  readonly text: string;
  readonly values: unknown[];
}

/** Creates the query for the summaries of a list. */
export function createListQuery(
  schema: QuotedSchema,
  { limit, after, ...filter }: StorageListOptions,
): Query {
  const conditions = new Conditions(filter);
  if (after) conditions.add((add) => `(updated, id) < (${add(after.updated)}, ${add(after.id)})`);
  const where = conditions.join();
  const rows = limit === undefined ? "" : `LIMIT ${conditions.addValue(limit)}`;
  return {
    text: `SELECT ${SESSION_COLUMNS} FROM ${schema}.sessions ${where} ` +
      `ORDER BY updated DESC, id DESC ${rows}`,
    values: conditions.values,
  };
}

/** Creates the query for the entries whose text has, for each word, a word that begins with it. */
export function createSearchQuery(
  schema: QuotedSchema,
  { words, sessionId, limit, after, ...filter }: StorageSearch,
): Query {
  const conditions = new Conditions(filter);
  conditions.add((add) => `words @@ ${add(createWordQuery(words))}::tsquery`);
  conditions.add(() => "position < sessions.entries");
  if (sessionId !== undefined) conditions.add((add) => `session = ${add(sessionId)}`);
  if (after) {
    conditions.add((add) => {
      const id = add(after.id);
      return `((updated, session) < (${add(after.updated)}, ${id}) OR ` +
        `session = ${id} AND position > ${add(after.position)}::bigint)`;
    });
  }
  const where = conditions.join();
  return {
    text: `
      SELECT session, updated, position, line FROM ${schema}.entries
      JOIN ${schema}.sessions ON sessions.id = entries.session
      ${where} ORDER BY updated DESC, session DESC, position LIMIT ${conditions.addValue(limit)}
    `,
    values: conditions.values,
  };
}

/** Creates the statement that deletes sessions without a writer, at most `limit` at a time. */
export function createDeleteStatement(
  schema: QuotedSchema,
  { updatedBefore, ...filter }: DeleteSessionsOptions,
  limit: number,
): Query {
  const conditions = new Conditions(filter);
  conditions.add(() => "(writer IS NULL OR lease_end < clock_timestamp())");
  if (updatedBefore !== undefined) {
    conditions.add((add) => `updated < ${add(updatedBefore)}`);
    conditions.add((add) => `${CREATED} < ${add(updatedBefore)}`);
  }
  const where = conditions.join();
  return {
    text: `
      DELETE FROM ${schema}.sessions WHERE id IN (
        SELECT id FROM ${schema}.sessions ${where} LIMIT ${conditions.addValue(limit)}
        FOR UPDATE SKIP LOCKED
      ) RETURNING id
    `,
    values: conditions.values,
  };
}

/** Adds the value of a placeholder; returns the placeholder. */
type AddValue = (value: unknown) => string;

/** The conditions of a query for sessions with entries. */
class Conditions {
  readonly values: unknown[] = [];
  readonly #conditions = ["sessions.entries > 0"];

  constructor({ cwd, tenant, user, metadata }: SessionFilter) {
    for (const [column, value] of Object.entries({ cwd, tenant, user_id: user })) {
      if (value !== undefined) this.add((add) => `${column} = ${add(encodeText(value))}`);
    }
    const members = listMembers(metadata);
    if (members.length > 0) this.add((add) => `metadata @> ${add(JSON.stringify(members))}::jsonb`);
  }

  readonly addValue: AddValue = (value) => `$${this.values.push(value)}`;

  add(create: (add: AddValue) => string): void {
    this.#conditions.push(create(this.addValue));
  }

  join(): string {
    return `WHERE ${this.#conditions.join(" AND ")}`;
  }
}
