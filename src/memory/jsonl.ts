/**
 * Entries as lines of JSON, and back.
 *
 * @module
 */

import { LOST_RESULT_TEXT } from "../core/history.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { ToolResultMessage } from "../core/message.ts";
import type {
  EntryPlace,
  MessageEntry,
  SessionEntry,
  SessionHeader,
} from "../core/session_entry.ts";
import { checkRecord } from "./entry_check.ts";
import { jsonText } from "./json_text.ts";

/** Version of the format that is written. Version 0 is a bare list of messages, one a line. */
export const SESSION_VERSION = 1;

/** An entry that was read; where it echoes the journal, its content is still to be put back. */
export interface DecodedEntry {
  /** Discriminant. */
  readonly type: "entry";
  /** The entry. */
  readonly entry: SessionEntry;
  /** The journal's entry that holds its content. */
  readonly contentFrom?: string;
}

/** What a line holds. */
export type DecodedLine = DecodedEntry | { readonly type: "broken" };

/** The header of a session of this version. */
export function headerOf(
  { id, created, cwd, parent }: {
    readonly id: string;
    readonly created: number;
    readonly cwd?: string;
    readonly parent?: SessionHeader["parent"];
  },
): SessionHeader {
  return {
    type: "session",
    version: SESSION_VERSION,
    id,
    created,
    ...(cwd !== undefined && { cwd }),
    ...(parent !== undefined && { parent }),
  };
}

/** Writes a header as a line, without its end. */
export function encodeHeader(header: SessionHeader): string {
  const { type, version, id, created, cwd, parent } = header;
  return jsonText({ type, version, id, created, cwd, parent });
}

/** Writes an entry as a line, without its end; one that echoes the journal without its content. */
export function encodeEntry(entry: SessionEntry, echoOf?: string): string {
  if (entry.type === "opaque") return encodeOpaque(entry);
  const { type, id, parentId, timestamp, ...body } = entry;
  const place = { type, id, parentId, timestamp };
  if (echoOf === undefined || !isToolResult(entry)) return jsonText({ ...place, ...body });
  const { content: _content, details: _details, ...message } = entry.message;
  return jsonText({ ...place, message, contentFrom: echoOf });
}

/** Reads a line. */
export function decodeLine(text: string): DecodedLine {
  try {
    return decodeRecord(JSON.parse(text));
  } catch {
    return { type: "broken" };
  }
}

/** Reads a line that `JSON.parse` has taken; its id and parent are still to be looked at. */
export function decodeRecord(value: unknown): DecodedLine {
  if (!isJsonObject(value)) return { type: "broken" };
  const { contentFrom, ...record } = value;
  const isReference = typeof contentFrom === "string" && isJsonObject(record["message"]);
  const filled = isReference ? { ...record, message: withLostContent(record["message"]) } : value;
  switch (checkRecord(filled)) {
    case "broken":
      return { type: "broken" };
    case "unknown": {
      const { id, parentId, timestamp } = value as unknown as EntryPlace;
      return { type: "entry", entry: { type: "opaque", id, parentId, timestamp, record: value } };
    }
    case "known": {
      const entry = filled as unknown as SessionEntry;
      return isReference ? { type: "entry", entry, contentFrom } : { type: "entry", entry };
    }
  }
}

/** Puts back the content that an entry refers to; without it, the entry says that its result was lost. */
export function withContentOf(entry: SessionEntry, source: SessionEntry | undefined): SessionEntry {
  if (!isToolResult(entry) || source?.type !== "tool_finished") return entry;
  const { content, details } = source.result;
  const { role, toolCallId, toolName, timestamp } = entry.message;
  const message: ToolResultMessage = {
    role,
    toolCallId,
    toolName,
    content,
    isError: source.isError,
    ...(details !== undefined && { details }),
    timestamp,
  };
  const body: MessageEntry = { type: "message", message };
  return { ...body, id: entry.id, parentId: entry.parentId, timestamp: entry.timestamp };
}

/** Puts back the content of echoes; what they refer to is fetched where it is not among the lines. */
export async function fillEchoes(
  lines: readonly DecodedEntry[],
  fetch: (ids: readonly string[]) => Promise<readonly DecodedEntry[]>,
): Promise<readonly SessionEntry[]> {
  const found = new Map(lines.map(({ entry }) => [entry.id, entry]));
  const missing = lines.flatMap(({ contentFrom }) =>
    contentFrom === undefined || found.has(contentFrom) ? [] : [contentFrom]
  );
  if (missing.length > 0) {
    for (const { entry } of await fetch(missing)) {
      found.set(entry.id, entry);
    }
  }
  return lines.map(({ entry, contentFrom }) =>
    contentFrom === undefined ? entry : withContentOf(entry, found.get(contentFrom))
  );
}

function withLostContent(message: unknown): JsonObject {
  const content = [{ type: "text", text: LOST_RESULT_TEXT }];
  return { ...(message as JsonObject), content, isError: true };
}

function encodeOpaque({ id, parentId, timestamp, record }: SessionEntry & { record: JsonObject }) {
  return jsonText({ ...record, id, parentId, timestamp });
}

function isToolResult(
  entry: SessionEntry,
): entry is MessageEntry & EntryPlace & { readonly message: ToolResultMessage } {
  return entry.type === "message" && entry.message.role === "tool_result";
}
