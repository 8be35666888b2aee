/**
 * Reads the rows of sessions and entries, which another program may have changed.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { SessionSummary } from "../../core/session.ts";
import type { EntryOutline, SessionEntryType, SessionHeader } from "../../core/session_entry.ts";
import { createHeader } from "../store/jsonl.ts";
import { listMembers } from "../store/session_filter.ts";
import { SummaryBuilder } from "../store/summary.ts";
import type { PostgresRow } from "./postgres_client.ts";
import { decodeText } from "./stored_text.ts";

/** The header and the summary of a session. */
export interface SessionColumns {
  readonly header: SessionHeader;
  readonly summary: SessionSummary;
}

/** Encodes a summary. The metadata are only in the header, since they may be long and never change. */
export function encodeSummary({ metadata: _metadata, ...summary }: SessionSummary): string {
  return JSON.stringify(summary);
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
  const stored = parseObject(row["header"]);
  const header = stored?.["id"] === id
    ? stored as unknown as SessionHeader
    : createHeader({ id, created: updated });
  const empty = { ...SummaryBuilder.from(header).build(0), updated, entries };
  const summary = parseObject(row["summary"]);
  return { header, summary: { ...empty, ...summary, id, updated, entries } };
}

/** Reads the outline of a session; `undefined` for entries without a row. */
export function readOutline(
  rows: readonly PostgresRow[],
  entries: number,
): readonly (EntryOutline | undefined)[] {
  const outline = new Array<EntryOutline | undefined>(entries).fill(undefined);
  for (const row of rows) outline[Number(row["position"])] = toOutline(row);
  return outline;
}

function toOutline({ id, parent, type, timestamp }: PostgresRow): EntryOutline {
  return {
    type: decodeText(String(type)) as SessionEntryType,
    id: decodeText(String(id)),
    parentId: parent === null ? null : decodeText(String(parent)),
    timestamp: Number(timestamp),
  };
}

function parseObject(text: unknown): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
