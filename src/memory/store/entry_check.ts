/**
 * Validates the records of a log, which may come from another version, another program or a failing disk. A record
 * that passes can be used without further checks.
 *
 * @module
 */

import type { ContentBlock } from "../../core/content.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { SessionEntryType } from "../../core/session_entry.ts";

type Check = (record: JsonObject) => boolean;

const isString = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
/** An unknown amount of a cost is `null`. */
const isNumberOrNull = (value: unknown): boolean => value === null || isNumber(value);
const isStringOrNull = (value: unknown): boolean => value === null || isString(value);
const isArrayWith = (value: unknown, check: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(check);

const ENTRY_CHECKS: Readonly<Record<Exclude<SessionEntryType, "opaque">, Check>> = {
  message: ({ message }) => isMessage(message),
  tool_started: (record) => isCall(record) && isJsonObject(record["arguments"]),
  tool_finished: (record) =>
    isCall(record) && isJsonObject(record["result"]) && isContent(record["result"]["content"]),
  model_changed: ({ model }) => isModelSpec(model),
  tools_changed: ({ names }) => isArrayWith(names, isString),
  queue_changed: ({ queued, delivering }) =>
    isQueuedMessages(queued) && (delivering === undefined || isQueuedMessages(delivering)),
  compaction: ({ firstDroppedId, lastDroppedId, droppedCount }) =>
    isStringOrNull(firstDroppedId) && isStringOrNull(lastDroppedId) && isNumber(droppedCount),
  sub_agent_spawned: ({ subAgentId, prompt }) => isString(subAgentId) && isString(prompt),
  sub_agent_result: ({ subAgentId, result }) => isString(subAgentId) && isString(result),
  plan_created: ({ plan, steps }) => isString(plan) && isArrayWith(steps, isString),
  plan_step: ({ step, state }) => isNumber(step) && isString(state),
  plan_mode: ({ active }) => typeof active === "boolean",
  approval: ({ toolCallId, name, decision }) =>
    isString(toolCallId) && isString(name) && isJsonObject(decision),
  approval_mode: ({ mode }) => isString(mode),
  label: ({ targetId, label }) => isString(targetId) && isStringOrNull(label),
  title: ({ title }) => isString(title),
  leaf_moved: ({ from }) => isStringOrNull(from),
  run_ended: ({ stopReason }) => isString(stopReason),
  custom: ({ name }) => isString(name),
};

const hasSource: Check = ({ source }) => isJsonObject(source) && isString(source["type"]);
const hasMedia: Check = (block) => hasSource(block) && isString(block["mediaType"]);

const BLOCK_CHECKS: Readonly<Record<ContentBlock["type"], Check>> = {
  text: ({ text }) => isString(text),
  thinking: ({ thinking }) => isString(thinking),
  tool_call: ({ id, name, arguments: args }) =>
    isString(id) && isString(name) && isJsonObject(args),
  image: hasSource,
  document: hasMedia,
  audio: hasMedia,
  extension: ({ typeName }) => isString(typeName),
};

/** Result of {@linkcode classifyRecord}. */
export type RecordStatus = "known" | "unknown" | "broken";

/** Classifies a record as a valid entry of a known type, an entry of an unknown type, or broken. */
export function classifyRecord(record: JsonObject): RecordStatus {
  const { id, parentId, timestamp, type } = record;
  if (!isString(id) || id === "" || !isStringOrNull(parentId) || !isNumber(timestamp)) {
    return "broken";
  }
  if (!isString(type)) return "broken";
  if (!Object.hasOwn(ENTRY_CHECKS, type)) return "unknown";
  return ENTRY_CHECKS[type as keyof typeof ENTRY_CHECKS](record) ? "known" : "broken";
}

/** Whether a value is a message with valid content. */
export function isMessage(value: unknown): boolean {
  if (!isJsonObject(value) || !isNumber(value["timestamp"])) return false;
  switch (value["role"]) {
    case "user":
      return isContent(value["content"]);
    case "assistant":
      return isContent(value["content"]) && isString(value["provider"]) &&
        isString(value["modelId"]) && hasAmounts(value["usage"], isNumber) &&
        hasAmounts(value["cost"], isNumberOrNull) &&
        isString(value["stopReason"]);
    case "tool_result":
      return isContent(value["content"]) && isString(value["toolCallId"]) &&
        isString(value["toolName"]) && typeof value["isError"] === "boolean";
    case "custom":
      return isString(value["type"]);
    default:
      return false;
  }
}

function isContent(value: unknown): boolean {
  return isArrayWith(
    value,
    (block) =>
      isJsonObject(block) && isBlockType(block["type"]) && BLOCK_CHECKS[block["type"]](block),
  );
}

function isBlockType(type: unknown): type is ContentBlock["type"] {
  return isString(type) && Object.hasOwn(BLOCK_CHECKS, type);
}

function hasAmounts(value: unknown, check: (amount: unknown) => boolean): boolean {
  return isJsonObject(value) &&
    ["input", "output", "cacheRead", "cacheWrite", "total"].every((key) => check(value[key]));
}

function isCall({ messageId, toolCallId, name }: JsonObject): boolean {
  return isStringOrNull(messageId) && isString(toolCallId) && isString(name);
}

/** Whether a value is a `ModelSpec` object. */
export function isModelSpec(value: unknown): boolean {
  return isJsonObject(value) && isString(value["provider"]) && isString(value["modelId"]) &&
    isString(value["thinkingLevel"]);
}

/** Whether a value is a `QueuedMessages` object. */
export function isQueuedMessages(value: unknown): boolean {
  const isItem = (item: unknown) =>
    isJsonObject(item) && isString(item["id"]) && isMessage(item["message"]);
  return isJsonObject(value) && isArrayWith(value["steering"], isItem) &&
    isArrayWith(value["followUp"], isItem);
}
