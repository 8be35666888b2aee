/**
 * Entries as lines of JSON, and back.
 *
 * @module
 */

import { LOST_RESULT_TEXT } from "../../core/history.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { ToolResultMessage } from "../../core/message.ts";
import type {
  EntryPosition,
  MessageEntry,
  SessionEntry,
  SessionHeader,
} from "../../core/session_entry.ts";
import { classifyRecord } from "./entry_check.ts";
import { safeStringify } from "./safe_stringify.ts";

/** Version of the format that is written. Version 0 is a bare list of messages, one a line. */
export const SESSION_VERSION = 1;

/** An entry that echoes the journal; its content is still to be put back. */
export interface DuplicateEntry {
  /** Discriminant. */
  readonly type: "echo";
  /** The entry. */
  readonly entry: SessionEntry;
  /** The journal's entry that holds its content. */
  readonly contentFrom: string;
}

/** What a line holds; `undefined` when it is broken. */
export type DecodedLine = SessionEntry | DuplicateEntry | undefined;

/** The header of a session of this version. */
export function createHeader(
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
  return safeStringify({ type, version, id, created, cwd, parent });
}

/** Writes an entry as a line, without its end; one that echoes the journal without its content. */
export function encodeEntry(entry: SessionEntry, echoOf?: string): string {
  if (entry.type === "opaque") return encodeOpaque(entry);
  const { type, id, parentId, timestamp, ...body } = entry;
  const place = { type, id, parentId, timestamp };
  if (echoOf === undefined || !isToolResult(entry)) return safeStringify({ ...place, ...body });
  const { content: _content, details: _details, ...message } = entry.message;
  return safeStringify({ ...place, message, contentFrom: echoOf });
}

/** Reads a line. */
export function decodeLine(text: string): DecodedLine {
  try {
    return decodeRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Reads a line that `JSON.parse` has taken; its id and parent are still to be looked at. */
export function decodeRecord(value: unknown): DecodedLine {
  if (!isJsonObject(value)) return undefined;
  const { contentFrom } = value;
  if (typeof contentFrom === "string") return decodeDuplicate(value, contentFrom);
  switch (classifyRecord(value)) {
    case "broken":
      return undefined;
    case "unknown": {
      const { id, parentId, timestamp } = value as unknown as EntryPosition;
      return { type: "opaque", id, parentId, timestamp, record: value };
    }
    case "known":
      return value as unknown as SessionEntry;
  }
}

function decodeDuplicate(
  { contentFrom: _from, ...record }: JsonObject,
  contentFrom: string,
): DecodedLine {
  if (!isJsonObject(record["message"])) return undefined;
  const entry = { ...record, message: withLostContent(record["message"]) };
  if (classifyRecord(entry) !== "known") return undefined;
  return { type: "echo", entry: entry as unknown as SessionEntry, contentFrom };
}

/** Puts back the content that an entry refers to; without it, the entry says that its result was lost. */
export function restoreContent(
  entry: SessionEntry,
  source: SessionEntry | undefined,
): SessionEntry {
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
export async function restoreDuplicates(
  lines: readonly DecodedLine[],
  fetch: (ids: readonly string[]) => Promise<readonly DecodedLine[]>,
): Promise<readonly (SessionEntry | undefined)[]> {
  const wanted = new Set<string>();
  for (const line of lines) if (line?.type === "echo") wanted.add(line.contentFrom);
  const found = new Map<string, SessionEntry>();
  const find = (line: DecodedLine) => {
    if (line && line.type !== "echo" && wanted.delete(line.id)) found.set(line.id, line);
  };
  if (wanted.size > 0) lines.forEach(find);
  if (wanted.size > 0) (await fetch([...wanted])).forEach(find);
  return lines.map((line) =>
    line?.type === "echo" ? restoreContent(line.entry, found.get(line.contentFrom)) : line
  );
}

function withLostContent(message: JsonObject): JsonObject {
  const content = [{ type: "text", text: LOST_RESULT_TEXT }];
  return { ...message, content, isError: true };
}

function encodeOpaque({ id, parentId, timestamp, record }: SessionEntry & { record: JsonObject }) {
  return safeStringify({ ...record, id, parentId, timestamp });
}

function isToolResult(
  entry: SessionEntry,
): entry is MessageEntry & EntryPosition & { readonly message: ToolResultMessage } {
  return entry.type === "message" && entry.message.role === "tool_result";
}
