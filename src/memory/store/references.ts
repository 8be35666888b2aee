/**
 * Restores the content of entries that refer to earlier ones.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { LOST_RESULT_TEXT } from "../../core/messages/history.ts";
import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import { listLongData, mapBlocks, mapQueued } from "./entry_parts.ts";

/** Returns the entry with an id, with its content; `undefined` if it cannot be read. */
export type FindEntry = (id: string) => SessionEntry | undefined;

/** Returns the ids of the entries that a record refers to. */
export function listReferences(record: JsonObject): readonly string[] {
  const ids: string[] = [];
  const { type, contentFrom } = record;
  if (type === "message" && typeof contentFrom === "string") ids.push(contentFrom);
  mapQueued(record, (item) => {
    if (typeof item["messageFrom"] === "string") ids.push(item["messageFrom"]);
    return item;
  });
  mapBlocks(record, (block) => {
    const reference = getDataReference(block);
    if (reference) ids.push(reference.entryId);
    return block;
  });
  return ids;
}

/** Returns a record without references. Content that cannot be found is replaced by a text that states so. */
export function resolveReferences(record: JsonObject, findEntry: FindEntry): JsonObject {
  return mapBlocks(
    mapQueued(resolveContent(record, findEntry), (item) => resolveQueued(item, findEntry)),
    (block) => resolveData(block, findEntry),
  );
}

function resolveContent(record: JsonObject, findEntry: FindEntry): JsonObject {
  const { contentFrom, ...entry } = record;
  const isReference = record["type"] === "message" && typeof contentFrom === "string";
  if (!isReference || !isJsonObject(entry["message"])) return record;
  const source = findEntry(contentFrom);
  if (source?.type !== "tool_finished") {
    const content = [{ type: "text", text: LOST_RESULT_TEXT }];
    return { ...entry, message: { ...entry["message"], content, isError: true } };
  }
  const { isError, result: { content, details } } = source;
  const message = {
    ...entry["message"],
    content,
    isError,
    ...(details !== undefined && { details }),
  };
  return { ...entry, message };
}

/** Restores a queued message; one that cannot be found is no longer queued. */
function resolveQueued(item: JsonObject, findEntry: FindEntry): JsonObject | undefined {
  const { id, messageFrom } = item;
  if (typeof messageFrom !== "string") return item;
  const source = findEntry(messageFrom);
  if (source?.type !== "queue_changed") return undefined;
  const queues = [source.queued, ...(source.delivering ? [source.delivering] : [])];
  const found = queues.flatMap(({ steering, followUp }) => [...steering, ...followUp])
    .find((queued) => queued.id === id);
  return found && { ...found };
}

function resolveData(block: JsonObject, findEntry: FindEntry): JsonObject {
  const reference = getDataReference(block);
  if (!reference) return block;
  const { entryId, index, length } = reference;
  const source = findEntry(entryId);
  const data = source && listLongData({ ...source })[index];
  if (data?.length !== length) {
    return { type: "text", text: `[The data of this ${String(block["type"])} was lost]` };
  }
  const { dataFrom: _dataFrom, ...rest } = Object(block["source"]);
  return { ...block, source: { ...rest, data } };
}

function getDataReference(
  { source }: JsonObject,
): { readonly entryId: string; readonly index: number; readonly length: number } | undefined {
  if (!isJsonObject(source) || source["type"] !== "base64" || "data" in source) return undefined;
  const { dataFrom } = source;
  if (!Array.isArray(dataFrom)) return undefined;
  const [entryId, index, length] = dataFrom;
  const isReference = typeof entryId === "string" && typeof index === "number" &&
    typeof length === "number";
  return isReference ? { entryId, index, length } : undefined;
}
