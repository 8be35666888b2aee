/**
 * Finds content that an earlier entry of the session has.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import type {
  EntryPosition,
  SessionEntry,
  ToolFinishedEntry,
} from "../../core/sessions/session_entry.ts";
import { getLongData, listLongData, mapBlocks, mapQueued } from "./entry_parts.ts";

/** The place of base64 data: the id of its entry, its index among the long data of that entry, and its length. */
export type DataReference = readonly [entryId: string, index: number, length: number];

/** A queued message, and the id of the entry that has it. */
interface StoredMessage {
  readonly entryId: string;
  readonly message: unknown;
}

/**
 * Replaces content that an earlier entry has by a reference to that entry.
 *
 * A session has each tool result twice: in the tool journal when the call ends, and as a message when the complete batch
 * has ended. The message refers to the journal entry (`contentFrom`). A queued message refers to the first entry that has
 * it (`messageFrom`), and long base64 data to the first entry with the same data (`dataFrom`).
 */
export class RepeatedContent {
  readonly #finished = new Map<string, ToolFinishedEntry & EntryPosition>();
  readonly #queued = new Map<string, StoredMessage>();
  readonly #data = new Map<string, DataReference>();

  /** Adds the next entry; returns it as a record with references. */
  replace(entry: SessionEntry): JsonObject {
    const contentFrom = this.#findOriginal(entry);
    if (contentFrom !== undefined) return omitContent(entry, contentFrom);
    const record: JsonObject = entry.type === "queue_changed"
      ? this.#replaceQueued({ ...entry })
      : { ...entry };
    return this.add(entry) ? this.#replaceData(record, entry.id) : record;
  }

  /** Adds an entry that is in the log; returns whether it has long data. */
  add(entry: SessionEntry): boolean {
    // Not a copy, since all entries of a long session are added when it is opened.
    const list = listLongData(entry as unknown as JsonObject);
    list.forEach((data, index) => {
      if (!this.#data.has(data)) this.#data.set(data, [entry.id, index, data.length]);
    });
    return list.length > 0;
  }

  /** Removes entries that could not be stored. */
  forget(entries: readonly SessionEntry[]): void {
    const ids = new Set(entries.map(({ id }) => id));
    for (const [callId, { id }] of this.#finished) if (ids.has(id)) this.#finished.delete(callId);
    for (const [id, { entryId }] of this.#queued) if (ids.has(entryId)) this.#queued.delete(id);
    for (const [data, [entryId]] of this.#data) if (ids.has(entryId)) this.#data.delete(data);
  }

  /** Returns the id of the journal entry whose content a tool result message repeats, if any. */
  #findOriginal(entry: SessionEntry): string | undefined {
    if (entry.type === "tool_finished") this.#finished.set(entry.toolCallId, entry);
    if (entry.type !== "message" || entry.message.role !== "tool_result") return undefined;
    const { toolCallId, content, details, isError } = entry.message;
    const finished = this.#finished.get(toolCallId);
    this.#finished.delete(toolCallId);
    const isRepeated = finished && finished.isError === isError &&
      isJsonEqual(finished.result.content, content) &&
      isJsonEqual(finished.result.details, details);
    return isRepeated ? finished.id : undefined;
  }

  #replaceQueued(record: JsonObject): JsonObject {
    const entryId = String(record["id"]);
    const kept = new Map<string, StoredMessage>();
    const replaced = mapQueued(record, (item) => {
      const { id, message } = item;
      if (typeof id !== "string") return item;
      const stored = this.#queued.get(id);
      const isStored = stored !== undefined && isJsonEqual(stored.message, message);
      kept.set(id, isStored ? stored : { entryId, message });
      return isStored ? { id, messageFrom: stored.entryId } : item;
    });
    this.#queued.clear();
    for (const [id, stored] of kept) this.#queued.set(id, stored);
    return replaced;
  }

  #replaceData(record: JsonObject, entryId: string): JsonObject {
    return mapBlocks(record, (block) => {
      const stored = this.#data.get(getLongData(block) ?? "");
      return stored && stored[0] !== entryId ? omitData(block, stored) : block;
    });
  }
}

function omitContent(entry: SessionEntry, contentFrom: string): JsonObject {
  if (entry.type !== "message" || entry.message.role !== "tool_result") return { ...entry };
  const { content: _content, details: _details, ...message } = entry.message;
  return { ...entry, message, contentFrom };
}

function omitData(block: JsonObject, dataFrom: DataReference): JsonObject {
  if (!isJsonObject(block["source"])) return block;
  const { data: _data, ...source } = block["source"];
  return { ...block, source: { ...source, dataFrom } };
}
