/**
 * The headers and summaries of sessions in the rows of a database, which may be damaged.
 *
 * @module
 */

import type { SessionSummary } from "../../core/sessions/session.ts";
import type { SessionHeader } from "../../core/sessions/session_entry.ts";
import { decodeHeader, readSummary } from "../storage/session_columns.ts";
import { decodeText, encodeText } from "../storage/stored_text.ts";
import { createHeader } from "../store/jsonl.ts";

type Row = Readonly<Record<string, unknown>>;

/** The columns from which a header and a summary are read. */
export const SESSION_COLUMNS = "id, entries, header, summary, updated, cwd, tenant, user";

/** Number of entries in the row of a session of which only a part has been deleted. */
export const PARTLY_DELETED = -1;

/** Returns the values of the columns `cwd`, `tenant` and `user`, by which sessions are selected. */
export function encodeOwner({ cwd, tenant, user }: SessionHeader): readonly (string | null)[] {
  return [cwd, tenant, user].map((text) => text === undefined ? null : encodeText(text));
}

/** Returns the header in a row, or one with the values of its other columns. */
export function readHeader({ id, header, updated, ...columns }: Row): SessionHeader {
  const decoded = decodeHeader(header, String(id));
  if (decoded) return decoded;
  const about = ["cwd", "tenant", "user"].flatMap((name) =>
    typeof columns[name] === "string" ? [[name, decodeText(columns[name])]] : []
  );
  return createHeader({ id: String(id), created: Number(updated), ...Object.fromEntries(about) });
}

/** Returns the summary in a row, or one with the `problem` that it cannot be read or that the session is partly deleted. */
export function readRowSummary(row: Row): SessionSummary {
  const summary = {
    ...readSummary(row["summary"], readHeader(row)),
    updated: Number(row["updated"]),
  };
  if (row["entries"] !== PARTLY_DELETED) return summary;
  const problem =
    `The session "${summary.id}" is deleted in part: its deletion has not ended, or was interrupted: ` +
    "delete it again";
  return { ...summary, problem };
}
