/**
 * Reads the rows of sessions and entries, which another program may have changed.
 *
 * @module
 */

import type { SessionSummary } from "../../core/sessions/session.ts";
import type {
  EntryOutline,
  SessionEntryType,
  SessionHeader,
} from "../../core/sessions/session_entry.ts";
import { decodeHeader, readSummary } from "../storage/session_columns.ts";
import { decodeText } from "../storage/stored_text.ts";
import { createHeader } from "../store/jsonl.ts";
import { listMembers } from "../store/session_filter.ts";
import type { PostgresRow } from "./postgres_client.ts";

/** The columns from which a header and a summary are read. */
export const SESSION_COLUMNS = "id, updated, entries, header, summary, cwd, tenant, user_id";

/** The header and the summary of a session. */
export interface SessionColumns {
  readonly header: SessionHeader;
  readonly summary: SessionSummary;
}

/** Encodes the members of a session's metadata by which it can be selected; `null` if there are none. */
export function encodeMetadata({ metadata }: SessionHeader): string | null {
  const members = listMembers(metadata);
  return members.length === 0 ? null : JSON.stringify(members);
}

/** Reads the columns of a session; those that cannot be read are replaced by what is known. */
export function readSession(row: PostgresRow): SessionColumns {
  const [id, updated, entries] = [
    String(row["id"]),
    Number(row["updated"]),
    Number(row["entries"]),
  ];
  const header = decodeHeader(row["header"], id) ??
    createHeader({ id, created: updated, ...readOwner(row) });
  const summary = readSummary(row["summary"], header);
  return { header, summary: { ...summary, updated, entries } };
}

function readOwner(
  { cwd, tenant, user_id: user }: PostgresRow,
): Pick<SessionHeader, "cwd" | "tenant" | "user"> {
  const texts = Object.entries({ cwd, tenant, user }).flatMap(([name, text]) =>
    typeof text === "string" ? [[name, decodeText(text)]] : []
  );
  return Object.fromEntries(texts);
}

/** Reads the entries of a session, by their positions. */
export function readEntries(rows: readonly PostgresRow[]): ReadonlyMap<number, EntryOutline> {
  return new Map(rows.map((row) => [Number(row["position"]), toOutline(row)]));
}

function toOutline({ id, parent, type, timestamp }: PostgresRow): EntryOutline {
  return {
    type: decodeText(String(type)) as SessionEntryType,
    id: decodeText(String(id)),
    parentId: parent === null ? null : decodeText(String(parent)),
    timestamp: Number(timestamp),
  };
}
