/**
 * Encodes entries as JSON lines, and decodes them.
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
import { repairAmounts } from "./amounts.ts";
import { findEntryProblem, isKnownType } from "./entry_check.ts";
import { safeStringify } from "./safe_stringify.ts";

/** Version of the written format. Version 0 is a list of messages, one per line. */
export const SESSION_VERSION = 1;

/** A tool result message that refers to the tool journal; its content has to be restored. */
export interface DuplicateEntry {
  readonly type: "duplicate";
  /** The entry, with a placeholder as its content. */
  readonly entry: SessionEntry;
  /** Id of the journal entry with its content. */
  readonly contentFrom: string;
}

/** The content of a line; `undefined` if it is broken. */
export type DecodedLine = SessionEntry | DuplicateEntry | undefined;

/** Creates the header of a session of the current version. */
export function createHeader(options: Omit<SessionHeader, "type" | "version">): SessionHeader {
  return { type: "session", version: SESSION_VERSION, ...pickHeader(options) };
}

/** Encodes a header as a line, without the newline. */
export function encodeHeader(header: SessionHeader): string {
  const { type, version } = header;
  return safeStringify({ type, version, ...pickHeader(header) });
}

function pickHeader(
  { id, created, cwd, tenant, user, metadata, parent }: Omit<SessionHeader, "type" | "version">,
): Omit<SessionHeader, "type" | "version"> {
  return {
    id,
    created,
    ...(cwd !== undefined && { cwd }),
    ...(tenant !== undefined && { tenant }),
    ...(user !== undefined && { user }),
    ...(metadata !== undefined && { metadata }),
    ...(parent !== undefined && { parent }),
  };
}

/**
 * Encodes an entry as a line, without the newline. With `original`, the id of a journal entry, its content is omitted.
 */
export function encodeEntry(entry: SessionEntry, original?: string): string {
  const { type, id, parentId, timestamp, ...body } = entry;
  if (entry.type === "opaque") return safeStringify({ ...entry.record, id, parentId, timestamp });
  const position = { type, id, parentId, timestamp };
  if (original === undefined || !isToolResult(entry)) {
    return safeStringify({ ...position, ...body });
  }
  const { content: _content, details: _details, ...message } = entry.message;
  return safeStringify({ ...position, message, contentFrom: original });
}

/** Decodes a line for a search; `undefined` if the entry is broken, or its text is that of an earlier entry. */
export function decodeSearchable(text: string): SessionEntry | undefined {
  const decoded = decodeLine(text);
  return decoded?.type === "duplicate" ? undefined : decoded;
}

/** Decodes a line. */
export function decodeLine(text: string): DecodedLine {
  try {
    return decodeRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Decodes a parsed line. Its id and parent are not checked against other entries. */
export function decodeRecord(value: unknown): DecodedLine {
  if (!isJsonObject(value)) return undefined;
  const { contentFrom } = value;
  if (typeof contentFrom === "string") return decodeDuplicate(value, contentFrom);
  if (findEntryProblem(value)) return undefined;
  if (isKnownType(value["type"])) return withValidAmounts(value) as unknown as SessionEntry;
  const { id, parentId, timestamp } = value as unknown as EntryPosition;
  return { type: "opaque", id, parentId, timestamp, record: value };
}

/** Repairs the amounts of an entry, since an unknown cost must not cost the reply. */
function withValidAmounts(record: JsonObject): JsonObject {
  switch (record["type"]) {
    case "message": {
      const { message } = record;
      if (!isJsonObject(message) || message["role"] !== "assistant") return record;
      const repaired = repairAmounts({ usage: null, cost: null, ...message });
      return { ...record, message: repaired };
    }
    case "compaction":
    case "sub_agent_result":
      return repairAmounts(record);
    default:
      return record;
  }
}

function decodeDuplicate(
  { contentFrom: _from, ...record }: JsonObject,
  contentFrom: string,
): DecodedLine {
  if (!isJsonObject(record["message"])) return undefined;
  const entry = { ...record, message: withLostContent(record["message"]) };
  if (!isKnownType(record["type"]) || findEntryProblem(entry)) return undefined;
  return { type: "duplicate", entry: entry as unknown as SessionEntry, contentFrom };
}

/**
 * Restores the content of a duplicate from its journal entry; without one, the content states that the result was lost.
 */
export function restoreContent(
  entry: SessionEntry,
  source: SessionEntry | undefined,
): SessionEntry {
  if (!isToolResult(entry) || source?.type !== "tool_finished") return entry;
  const { content, details } = source.result;
  const message: ToolResultMessage = {
    ...entry.message,
    content,
    isError: source.isError,
    ...(details !== undefined && { details }),
  };
  const body: MessageEntry = { type: "message", message };
  return { ...body, id: entry.id, parentId: entry.parentId, timestamp: entry.timestamp };
}

/** Restores the content of duplicates; journal entries that are not among the lines are fetched by id. */
export async function restoreDuplicates(
  lines: readonly DecodedLine[],
  fetch: (ids: readonly string[]) => Promise<readonly DecodedLine[]>,
): Promise<readonly (SessionEntry | undefined)[]> {
  const missing = new Set<string>();
  for (const line of lines) if (line?.type === "duplicate") missing.add(line.contentFrom);
  const sources = new Map<string, SessionEntry>();
  const collectSource = (line: DecodedLine) => {
    if (line && line.type !== "duplicate" && missing.delete(line.id)) sources.set(line.id, line);
  };
  if (missing.size > 0) lines.forEach(collectSource);
  if (missing.size > 0) (await fetch([...missing])).forEach(collectSource);
  return lines.map((line) =>
    line?.type === "duplicate" ? restoreContent(line.entry, sources.get(line.contentFrom)) : line
  );
}

function withLostContent(message: JsonObject): JsonObject {
  const content = [{ type: "text", text: LOST_RESULT_TEXT }];
  return { ...message, content, isError: true };
}

function isToolResult(
  entry: SessionEntry,
): entry is MessageEntry & EntryPosition & { readonly message: ToolResultMessage } {
  return entry.type === "message" && entry.message.role === "tool_result";
}
