/**
 * The tables of sessions in Postgres, and their versions.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { INCOMPLETE } from "./word_index.ts";

const SCHEMA_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** A schema, quoted for SQL. */
export type QuotedSchema = `"${string}"`;

/**
 * Quotes the name of a schema.
 *
 * @throws {BadRequestError} If the name is not one that needs no escapes.
 */
export function quoteSchema(schema: string): QuotedSchema {
  if (SCHEMA_NAME.test(schema)) return `"${schema}"`;
  throw new BadRequestError(
    `Invalid schema ${JSON.stringify(schema)}: use 1 to 63 letters, digits and "_"`,
  );
}

/** The statements that create each version of the tables from the one before. */
const MIGRATIONS: readonly ((schema: QuotedSchema) => string)[] = [
  (schema) => createTables(schema) + createTriggers(schema) + createFunctions(schema),
  createSingleAppend,
  addLaterWords,
];

/**
 * Creates the tables.
 *
 * `sessions` also has the lease of the writer, so that an append checks the lease and the number of entries with the row
 * that it locks anyway. A row without entries is only a lease.
 */
function createTables(schema: QuotedSchema): string {
  return `
    CREATE TABLE ${schema}.sessions (
      id text COLLATE "C" PRIMARY KEY,
      writer text,
      writer_owner text,
      lease_end timestamptz,
      entries integer NOT NULL DEFAULT 0,
      updated double precision,
      cwd text COLLATE "C",
      tenant text COLLATE "C",
      user_id text COLLATE "C",
      metadata jsonb,
      header text,
      summary text
    );
    CREATE INDEX sessions_in_order ON ${schema}.sessions (updated, id) WHERE entries > 0;
    CREATE INDEX sessions_of_tenant ON ${schema}.sessions (tenant, updated, id)
      WHERE entries > 0 AND tenant IS NOT NULL;
    CREATE INDEX sessions_of_user ON ${schema}.sessions (user_id, updated, id)
      WHERE entries > 0 AND user_id IS NOT NULL;
    CREATE INDEX sessions_by_metadata ON ${schema}.sessions USING gin (metadata jsonb_path_ops)
      WHERE metadata IS NOT NULL;
    CREATE INDEX sessions_without_entries ON ${schema}.sessions (lease_end) WHERE entries = 0;

    CREATE TABLE ${schema}.entries (
      session text COLLATE "C",
      position integer,
      id text NOT NULL,
      parent text,
      type text NOT NULL,
      timestamp double precision NOT NULL,
      line text NOT NULL,
      words tsvector,
      PRIMARY KEY (session, position)
    );
    -- New words wait in a list until an append inserts them all; a short list keeps that append short.
    CREATE INDEX entries_by_word ON ${schema}.entries USING gin (words)
      WITH (gin_pending_list_limit = 128);
  `;
}

/**
 * Creates triggers that delete the entries of deleted sessions. A foreign key would check the session of each new entry,
 * whose row `append_entries` has locked, and take a fifth of the time of an append.
 */
function createTriggers(schema: QuotedSchema): string {
  return `
    CREATE FUNCTION ${schema}.delete_entries() RETURNS trigger LANGUAGE plpgsql AS $function$
    BEGIN
      IF TG_OP = 'TRUNCATE' THEN
        TRUNCATE ${schema}.entries;
      ELSE
        DELETE FROM ${schema}.entries USING deleted WHERE session = deleted.id;
      END IF;
      RETURN NULL;
    END $function$;
    CREATE TRIGGER delete_entries AFTER DELETE ON ${schema}.sessions REFERENCING OLD TABLE AS deleted
      FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.delete_entries();
    CREATE TRIGGER truncate_entries AFTER TRUNCATE ON ${schema}.sessions
      FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.delete_entries();
  `;
}

/**
 * Creates functions for appends and leases, because Postgres keeps the plans of their statements for each connection:
 * planning takes four times as long as executing, and prepared statements would need a state of the connection. The server's
 * clock decides when a lease has ended, so that those of the clients may differ.
 */
function createFunctions(schema: QuotedSchema): string {
  return `
    CREATE FUNCTION ${schema}.append_entries(
      session_id text, token text, first integer, new_summary text, new_updated double precision,
      new_header text, new_cwd text, new_tenant text, new_user text, new_metadata jsonb,
      ids text[], parents text[], types text[], timestamps double precision[], lines text[], word_lists text[]
    ) RETURNS boolean LANGUAGE plpgsql AS $function$
    BEGIN
      UPDATE ${schema}.sessions SET
        summary = new_summary, updated = new_updated, entries = first + cardinality(ids),
        header = coalesce(new_header, header), cwd = coalesce(new_cwd, cwd),
        tenant = coalesce(new_tenant, tenant), user_id = coalesce(new_user, user_id),
        metadata = coalesce(new_metadata, metadata)
      WHERE id = session_id AND writer = token AND entries = first;
      IF NOT FOUND THEN
        RETURN false;
      END IF;
      INSERT INTO ${schema}.entries
        SELECT session_id, first + number - 1, added.id, added.parent, added.type, added.timestamp, added.line,
          array_to_tsvector(string_to_array(added.words, ' '))
        FROM unnest(ids, parents, types, timestamps, lines, word_lists)
          WITH ORDINALITY AS added (id, parent, type, timestamp, line, words, number)
      -- A row behind the last entry is not part of the session.
      ON CONFLICT (session, position) DO UPDATE SET
        id = excluded.id, parent = excluded.parent, type = excluded.type, timestamp = excluded.timestamp,
        line = excluded.line, words = excluded.words;
      RETURN true;
    END $function$;

    CREATE FUNCTION ${schema}.grant_lease(
      session_id text, token text, token_owner text, milliseconds double precision
    ) RETURNS boolean LANGUAGE plpgsql AS $function$
    DECLARE
      new_end timestamptz := clock_timestamp() + milliseconds * interval '1 millisecond';
    BEGIN
      INSERT INTO ${schema}.sessions AS session (id, writer, writer_owner, lease_end)
      VALUES (session_id, token, token_owner, new_end)
      ON CONFLICT (id) DO UPDATE SET writer = token, writer_owner = token_owner, lease_end = new_end
      WHERE session.writer IS NULL OR session.writer = token OR session.lease_end < clock_timestamp();
      RETURN FOUND;
    END $function$;
  `;
}

/**
 * Creates the function that appends one entry, other than the first, to a session: without lists to read and without the
 * check for a row behind the last entry, for which it fails, it takes a fifth less time than `append_entries`.
 */
function createSingleAppend(schema: QuotedSchema): string {
  return `
    CREATE FUNCTION ${schema}.append_entry(
      session_id text, token text, new_position integer, new_summary text, new_updated double precision,
      new_id text, new_parent text, new_type text, new_timestamp double precision, new_line text, new_words text
    ) RETURNS boolean LANGUAGE plpgsql AS $function$
    BEGIN
      UPDATE ${schema}.sessions SET summary = new_summary, updated = new_updated, entries = new_position + 1
      WHERE sessions.id = session_id AND writer = token AND entries = new_position;
      IF NOT FOUND THEN
        RETURN false;
      END IF;
      INSERT INTO ${schema}.entries VALUES (
        session_id, new_position, new_id, new_parent, new_type, new_timestamp, new_line,
        array_to_tsvector(string_to_array(new_words, ' '))
      );
      RETURN true;
    END $function$;
  `;
}

/** Marks, without the selectors of variations, and the vowels of Hangul: ranges of a regular expression of Postgres. */
const MARKS =
  "\\u0300-\\u036f\\u0483-\\u0489\\u0591-\\u05c7\\u0610-\\u061a\\u064b-\\u065f\\u0670\\u06d6-\\u06ed\\u0711-\\u109f\\u1161-\\u1175\\u135d-\\u135f" +
  "\\u1712-\\u1dff\\u20d0-\\u20f0\\u2cef-\\u2cf1\\u2d7f\\u2de0-\\u2dff\\u302a-\\u302f\\u3099\\u309a\\ua66f-\\uabed\\ufb1e\\ufe20-\\ufe2f" +
  "\\U000101fd-\\U0001e94a";
/** Letters of scripts without spaces, other than those whose words have marks. */
const UNSPACED = "\\u3005-\\u3029\\u3031-\\u3096\\u309d-\\u30ff\\u31f0-\\u9fff\\uf900-\\ufaff" +
  "\\uff66-\\uff9f\\U00020000-\\U000323af";
/** Length of a line, in bytes, whose words and their parts together are short enough for Postgres, which allows 1 MB. */
const MAX_LINE_LENGTH = 300_000;

/**
 * Adds the words that the entries of earlier versions have now: the parts of those in scripts without spaces, and what
 * follows the letter of an escape in data. Each search examines what it finds, so that the others can stay. Entries with
 * marks are marked as those with more words than the index has. Each search examines these, which takes long for many.
 */
function addLaterWords(schema: QuotedSchema): string {
  // Other encodings, which are refused later, do not have this character.
  const incomplete = `chr(${INCOMPLETE.codePointAt(0)})`;
  return `
    IF current_setting('server_encoding') = 'UTF8' THEN
      UPDATE ${schema}.entries SET words = words || CASE
        WHEN line ~ '[${MARKS}]' OR octet_length(line) > ${MAX_LINE_LENGTH} THEN
          array_to_tsvector(ARRAY[${incomplete}])
        ELSE (
          SELECT coalesce(array_to_tsvector(array_agg(DISTINCT part)), '')
          FROM unnest(tsvector_to_array(words)) AS word, LATERAL (
            SELECT substr(word, 2) WHERE left(word, 1) IN ('b', 'f', 'n', 'r', 't') AND length(word) > 1
            UNION ALL
            SELECT substr(word, 6) WHERE left(word, 1) = 'u' AND word ~ '^u[0-9a-f]{4}.'
            UNION ALL
            SELECT matches[1] FROM regexp_matches(word, '[${UNSPACED}]|[^${UNSPACED}]+', 'g') AS matches
              WHERE octet_length(word) > length(word)
            UNION ALL
            -- The index has only the beginning of a long word.
            SELECT ${incomplete} WHERE length(word) >= 100 AND octet_length(word) > length(word)
          ) AS parts (part)
          WHERE left(word, 1) IN ('b', 'f', 'n', 'r', 't', 'u') OR octet_length(word) > length(word)
        ) END
      WHERE line ~ '[${MARKS}${UNSPACED}]' OR line ~ '\\\\[bfnrtu]' AND line ~ '"(arguments|data)":';
    END IF;
  `;
}

/** The version of the tables that this program uses. */
export const TABLES_VERSION: number = MIGRATIONS.length;

/** Creates the query for the version of the tables and the encoding of the database. */
export function createVersionQuery(schema: QuotedSchema): string {
  return `SELECT max(version) AS version, current_setting('server_encoding') AS encoding
    FROM ${schema}.migrations`;
}

/**
 * Creates the statement that creates or upgrades the tables. It does so in one transaction and under a lock, so that several
 * processes can start at the same time.
 */
export function createMigration(
  schema: QuotedSchema,
  migrations: readonly ((schema: QuotedSchema) => string)[] = MIGRATIONS,
): string {
  const steps = migrations.map((migrate, index) => `
    IF current_version < ${index + 1} THEN
      ${migrate(schema)}
      INSERT INTO ${schema}.migrations (version) VALUES (${index + 1});
    END IF;
  `);
  return `DO $migration$
    DECLARE
      current_version integer;
    BEGIN
      PERFORM pg_advisory_xact_lock(hashtextextended('swink ${schema}', 0));
      IF to_regclass('${schema}.migrations') IS NULL THEN
        IF to_regnamespace('${schema}') IS NULL THEN
          CREATE SCHEMA ${schema};
        END IF;
        CREATE TABLE ${schema}.migrations (
          version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now()
        );
      END IF;
      SELECT coalesce(max(version), 0) INTO current_version FROM ${schema}.migrations;
      ${steps.join("")}
    END
  $migration$`;
}
