/**
 * The tables of a database of sessions.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { encodeText } from "../storage/stored_text.ts";
import { decodeLine, decodeSearchable } from "../store/jsonl.ts";
import { getSearchText } from "../store/search.ts";
import { listMembers } from "../store/session_filter.ts";
import { toIndexText } from "./index_words.ts";
import { encodeOwner, readHeader } from "./session_rows.ts";
import type { Database } from "./sqlite_database.ts";

/** Version of the tables. A change of `getStoredText()` needs a new one, since the index is updated with its texts. */
const TABLES_VERSION = 6;

const MEMBERS_TABLE = `
  CREATE TABLE session_members (
    member TEXT NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (member, session)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX members_of_session ON session_members (session);
`;

const TEXT_INDEX = `
  CREATE VIRTUAL TABLE entry_text USING fts5(text, content='', tokenize='ascii');
  INSERT INTO entry_text (entry_text, rank) VALUES ('secure-delete', 1);
`;

const TABLES = `
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    header TEXT NOT NULL,
    summary TEXT NOT NULL,
    entries INTEGER NOT NULL,
    updated REAL NOT NULL,
    cwd TEXT,
    tenant TEXT,
    user TEXT,
    syncs INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX sessions_in_order ON sessions (updated, id);
  CREATE INDEX sessions_of_tenant ON sessions (tenant, updated, id) WHERE tenant IS NOT NULL;
  CREATE INDEX sessions_of_user ON sessions (user, updated, id) WHERE user IS NOT NULL;

  CREATE TABLE entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    parent TEXT,
    type TEXT NOT NULL,
    timestamp REAL NOT NULL,
    line TEXT NOT NULL
  ) STRICT;

  CREATE INDEX entry_outlines ON entries (session, position, id, parent, type, timestamp);

  ${TEXT_INDEX}
  ${MEMBERS_TABLE}
`;

/**
 * Creates the tables in an empty database.
 *
 * @throws {SessionError} With the reason `newer_version` if the tables have another version, and `not_a_session` if they
 * are those of another program.
 */
export function createTables(
  database: Database,
  path: string,
  { isReadOnly = false }: { readonly isReadOnly?: boolean } = {},
): void {
  const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
  if (Number(version) <= TABLES_VERSION) checkOwner(database, path, version === 0);
  switch (version) {
    case TABLES_VERSION:
      return;
    case 0:
      database.exec(TABLES);
      break;
    case 1:
      upgradeEntries(database);
      encodeColumns(database);
      break;
    case 2:
      addMembersTable(database);
      replaceTextIndex(database);
      encodeColumns(database);
      break;
    case 3:
    case 4:
      replaceTextIndex(database);
      encodeColumns(database);
      break;
    case 5:
      // Only searches do not find all words.
      if (isReadOnly) return;
      replaceTextIndex(database);
      break;
    default:
      throw new SessionError(
        `Cannot open the sessions in "${path}": they have version ${version}, and this program supports ` +
          `version ${TABLES_VERSION}: update the program`,
        { reason: "newer_version" },
      );
  }
  database.exec(`PRAGMA user_version = ${TABLES_VERSION}`);
}

/** Throws a `SessionError` if the tables are those of another program; a new database has none. */
function checkOwner(database: Database, path: string, isNew: boolean): void {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables.map(({ name }) => String(name)).filter((name) =>
    !name.startsWith("sqlite_")
  );
  const isOwn = isNew
    ? names.length === 0
    : ["sessions", "entries"].every((name) => names.includes(name));
  if (isOwn) return;
  throw new SessionError(
    `Cannot open the sessions in "${path}": the database has tables of another program: use another file`,
    { reason: "not_a_session" },
  );
}

/** Builds the full-text index again. */
export function replaceTextIndex(database: Database): void {
  database.exec(`DROP TABLE entry_text; ${TEXT_INDEX}`);
  addAllTexts(database);
}

function addAllTexts(database: Database): void {
  const addText = database.prepare("INSERT INTO entry_text (rowid, text) VALUES (?, ?)");
  for (const { number, line } of database.prepare("SELECT number, line FROM entries").iterate()) {
    const text = getStoredText(String(line));
    if (text !== "") addText.run(Number(number), text);
  }
}

/** Upgrades the tables of version 2, which cannot be filtered by metadata. */
function addMembersTable(database: Database): void {
  database.exec(MEMBERS_TABLE);
  addAllMembers(database);
}

function addAllMembers(database: Database): void {
  for (const row of database.prepare("SELECT * FROM sessions").all()) {
    addMembers(database, readHeader(row));
  }
}

/** Adds the members of a session's metadata by which it can be selected. */
export function addMembers(database: Database, { id, metadata }: SessionHeader): void {
  const members = listMembers(metadata);
  if (members.length === 0) return;
  const addMember = database.prepare("INSERT INTO session_members (member, session) VALUES (?, ?)");
  for (const member of members) addMember.run(member, id);
}

/**
 * Upgrades the columns of version 4, which have no NUL characters and lone surrogates of ids, tenants and users, by the
 * headers and lines, which have them as JSON.
 */
function encodeColumns(database: Database): void {
  const setOwner = database.prepare(
    "UPDATE sessions SET cwd = ?, tenant = ?, user = ? WHERE id = ?",
  );
  for (const row of database.prepare("SELECT * FROM sessions").all()) {
    const header = readHeader(row);
    setOwner.run(...encodeOwner(header), header.id);
  }
  const setIds = database.prepare("UPDATE entries SET id = ?, parent = ? WHERE number = ?");
  for (const { number, line } of database.prepare(ENTRIES_TO_ENCODE).all()) {
    const decoded = decodeLine(String(line));
    const entry = decoded?.type === "referring" ? decoded.entry : decoded;
    if (!entry) continue;
    const { id, parentId } = entry;
    setIds.run(encodeText(id), parentId === null ? null : encodeText(parentId), Number(number));
  }
}

/** Selects the entries with a NUL, a replaced lone surrogate, or the beginning of an escape in their ids. */
const ENTRIES_TO_ENCODE = `
  SELECT number, line FROM entries
  WHERE ${
  ["id", "parent"].flatMap((column) =>
    ["00", "EFBFBD", "EE8080"].map((bytes) => `instr(CAST(${column} AS BLOB), X'${bytes}') > 0`)
  ).join(" OR ")
}`;

/** Upgrades the tables of version 1, whose entries have no position. */
function upgradeEntries(database: Database): void {
  database.exec(`
    DROP TABLE entry_text;
    DROP INDEX entries_in_order;
    ALTER TABLE sessions RENAME TO old_sessions;
    ALTER TABLE entries RENAME TO old_entries;
    ${TABLES}
    INSERT INTO sessions (id, header, summary, entries, updated, cwd)
      SELECT id, header, summary, (SELECT count(*) FROM old_entries WHERE session = old_sessions.id), updated,
        header ->> 'cwd' FROM old_sessions;
    INSERT INTO entries
      SELECT number, session, row_number() OVER (PARTITION BY session ORDER BY number) - 1, id, parent, type, timestamp,
        line FROM old_entries;
    DROP TABLE old_entries;
    DROP TABLE old_sessions;
  `);
  addAllMembers(database);
  addAllTexts(database);
}

/** Returns the text that the index has for a stored entry; empty if it has none. */
export function getStoredText(line: string): string {
  const entry = decodeSearchable(line);
  return entry ? toIndexText(getSearchText(entry)) : "";
}
