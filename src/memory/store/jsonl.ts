/**
 * Encodes entries as JSON lines, and decodes them.
 *
 * @module
 */

import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  MAX_JSON_DEPTH,
} from "../../core/json/json.ts";
import type {
  EntryPosition,
  SessionEntry,
  SessionHeader,
} from "../../core/sessions/session_entry.ts";
import { repairAmounts } from "./amounts.ts";
import { findEntryProblem, isKnownType, omitInvalidOptions } from "./entry_check.ts";
import { type FindEntry, listReferences, resolveReferences } from "./references.ts";
import { safeStringify } from "./safe_stringify.ts";

/** Version of the written format. Version 0 is a list of messages, one per line. */
export const SESSION_VERSION = 1;

/** An entry whose content is in earlier entries, from which it has to be restored. */
export interface ReferringEntry {
  readonly type: "referring";
  /** The entry without that content: a text states that it was lost. */
  readonly entry: SessionEntry;
  /** The entry as stored. */
  readonly record: JsonObject;
  /** Ids of the entries with its content. */
  readonly sources: readonly string[];
}

/** The content of a line; `undefined` if it is broken. */
export type DecodedLine = SessionEntry | ReferringEntry | undefined;

/** Creates the header of a session of the current version. */
export function createHeader(options: Omit<SessionHeader, "type" | "version">): SessionHeader {
  return { type: "session", version: SESSION_VERSION, ...pickHeader(options) };
}

/** Reads the header of a log, without members that are invalid; `id` and the default of `created` are those of the store. */
export function readHeader(
  { created, cwd, tenant, user, metadata, parent }: JsonObject,
  defaults: Pick<SessionHeader, "id" | "created">,
): SessionHeader {
  return createHeader({
    id: defaults.id,
    created: typeof created === "number" && Number.isFinite(created) ? created : defaults.created,
    ...(typeof cwd === "string" && { cwd }),
    ...(typeof tenant === "string" && { tenant }),
    ...(typeof user === "string" && { user }),
    ...(isJsonObject(metadata) && !isDeeperThan(metadata, MAX_JSON_DEPTH) && { metadata }),
    ...(isParentLink(parent) && { parent }),
  });
}

function isParentLink(value: unknown): value is NonNullable<SessionHeader["parent"]> {
  return isJsonObject(value) && typeof value["sessionId"] === "string";
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

/** Encodes an entry as a line, without the newline. `record` is the entry with references instead of repeated content. */
export function encodeEntry(entry: SessionEntry, record: JsonObject = { ...entry }): string {
  const { type, id, parentId, timestamp } = entry;
  if (entry.type === "opaque") return safeStringify({ ...entry.record, id, parentId, timestamp });
  return safeStringify({ type, id, parentId, timestamp, ...record });
}

/**
 * Decodes a line for a search; `undefined` if the entry is broken, or its text is that of an earlier entry. Data that is in
 * another entry is missing, without the text that would replace it if it were lost: an index has to find the same words
 * in the line as in the entry that was appended.
 */
export function decodeSearchable(text: string): SessionEntry | undefined {
  const decoded = decodeLine(text);
  if (decoded?.type !== "referring") return decoded;
  const { record } = decoded;
  return "contentFrom" in record ? undefined : record as unknown as SessionEntry;
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
  const sources = listReferences(value);
  if (sources.length === 0) return decodeComplete(value);
  const entry = decodeComplete(resolveReferences(value, () => undefined));
  return entry && { type: "referring", entry, record: value, sources };
}

function decodeComplete(record: JsonObject): SessionEntry | undefined {
  const isValid = findEntryProblem(record) === undefined;
  const value = isValid ? record : omitInvalidOptions(record);
  if (!isValid && findEntryProblem(value)) return undefined;
  if (isKnownType(value["type"])) return withValidAmounts(value) as unknown as SessionEntry;
  const { id, parentId, timestamp } = value as unknown as EntryPosition;
  return { type: "opaque", id, parentId, timestamp, record: value };
}

/** Repairs the amounts of an entry, since an unknown cost must not cost the reply. */
export function withValidAmounts(record: JsonObject): JsonObject {
  switch (record["type"]) {
    case "message":
    case "reply_failed":
    case "sub_agent_message": {
      const { message } = record;
      if (!isJsonObject(message)) return record;
      const isReply = message["role"] === "assistant";
      const repaired = repairAmounts(isReply ? { usage: null, cost: null, ...message } : message);
      return repaired === message ? record : { ...record, message: repaired };
    }
    case "tool_finished": {
      const { result } = record;
      return isJsonObject(result) ? { ...record, result: repairAmounts(result) } : record;
    }
    case "compaction":
    case "sub_agent_result":
      return repairAmounts(record);
    default:
      return record;
  }
}

/** Restores the content of an entry; content that cannot be found is lost. */
export function restoreContent(
  { entry, record }: ReferringEntry,
  findEntry: FindEntry,
): SessionEntry {
  return decodeComplete(resolveReferences(record, findEntry)) ?? entry;
}
