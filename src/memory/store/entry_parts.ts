/**
 * The parts of an entry that the log of a session has only once: queued messages, and base64 data of more than 1 KB.
 *
 * An entry whose part is in an earlier entry refers to that entry. Both kinds are repeated often: each change of the queues
 * records all queued messages, and an image is in the queue, in a message and again in a repaired history.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";

/** Minimum length of base64 data that is stored once, in characters. */
const MIN_DATA_LENGTH = 1024;

/** Returns a record whose queued messages are mapped; `undefined` removes one. */
export function mapQueued(
  record: JsonObject,
  map: (item: JsonObject) => JsonObject | undefined,
): JsonObject {
  if (record["type"] !== "queue_changed") return record;
  const mapQueue = (queue: unknown) =>
    Array.isArray(queue)
      ? queue.map((item) => isJsonObject(item) ? map(item) : item).filter(isDefined)
      : queue;
  const mapQueues = (queues: unknown) =>
    isJsonObject(queues)
      ? {
        ...queues,
        steering: mapQueue(queues["steering"]),
        followUp: mapQueue(queues["followUp"]),
      }
      : queues;
  const { queued, delivering } = record;
  return {
    ...record,
    queued: mapQueues(queued),
    ...(delivering !== undefined && { delivering: mapQueues(delivering) }),
  };
}

/** Returns a record whose content blocks are mapped, also those of queued messages. */
export function mapBlocks(
  record: JsonObject,
  map: (block: JsonObject) => JsonObject,
): JsonObject {
  switch (record["type"]) {
    case "message":
      return mapMember(record, "message", (message) => mapContent(message, map));
    case "tool_finished":
      return mapMember(record, "result", (result) => mapContent(result, map));
    case "queue_changed":
      return mapQueued(
        record,
        (item) => mapMember(item, "message", (message) => mapContent(message, map)),
      );
    default:
      return record;
  }
}

/** Returns the base64 data of a content block that is long enough to be stored once; `undefined` if there is none. */
export function getLongData({ source }: JsonObject): string | undefined {
  if (!isJsonObject(source) || source["type"] !== "base64") return undefined;
  const { data } = source;
  return typeof data === "string" && data.length >= MIN_DATA_LENGTH ? data : undefined;
}

/** Returns the long base64 data of a record, in order. */
export function listLongData(record: JsonObject): readonly string[] {
  const list: string[] = [];
  for (const content of listContents(record)) {
    for (const block of content) {
      const data = isJsonObject(block) ? getLongData(block) : undefined;
      if (data !== undefined) list.push(data);
    }
  }
  return list;
}

/** Returns the content of a record's message, result or queued messages, in the order of {@linkcode mapBlocks}. */
function listContents(record: JsonObject): readonly (readonly unknown[])[] {
  switch (record["type"]) {
    case "message":
      return [getContent(record["message"])];
    case "tool_finished":
      return [getContent(record["result"])];
    case "queue_changed": {
      const contents: (readonly unknown[])[] = [];
      mapQueued(record, (item) => {
        contents.push(getContent(item["message"]));
        return item;
      });
      return contents;
    }
    default:
      return [];
  }
}

function getContent(value: unknown): readonly unknown[] {
  return isJsonObject(value) && Array.isArray(value["content"]) ? value["content"] : [];
}

function mapContent(value: JsonObject, map: (block: JsonObject) => JsonObject): JsonObject {
  const { content } = value;
  if (!Array.isArray(content)) return value;
  const mapped = content.map((block) => isJsonObject(block) ? map(block) : block);
  return mapped.every((block, index) => block === content[index])
    ? value
    : { ...value, content: mapped };
}

function mapMember(
  record: JsonObject,
  name: string,
  map: (member: JsonObject) => JsonObject,
): JsonObject {
  const member = record[name];
  if (!isJsonObject(member)) return record;
  const mapped = map(member);
  return mapped === member ? record : { ...record, [name]: mapped };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
