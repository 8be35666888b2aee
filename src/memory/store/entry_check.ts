/**
 * Tells whether a record of a log is what it says it is.
 *
 * A log may have been written by another version, another program, or a failing disk. What passes here can be
 * used without looking again.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { SessionEntryType } from "../../core/session_entry.ts";

type Check = (record: JsonObject) => boolean;

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isListOf = (value: unknown, check: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(check);

const ENTRY_CHECKS: Readonly<Record<Exclude<SessionEntryType, "opaque">, Check>> = {
  message: ({ message }) => isMessage(message),
  tool_started: (record) => isCall(record) && isJsonObject(record["arguments"]),
  tool_finished: (record) => isCall(record) && isToolResult(record["result"]),
  model_changed: ({ model }) => isModel(model),
  tools_changed: ({ names }) => isListOf(names, isText),
  queue_changed: ({ queued, delivering }) =>
    isQueued(queued) && (delivering === undefined || isQueued(delivering)),
  compaction: ({ firstDroppedId, lastDroppedId, droppedCount }) =>
    isTextOrNull(firstDroppedId) && isTextOrNull(lastDroppedId) && isNumber(droppedCount),
  sub_agent_spawned: ({ subAgentId, prompt }) => isText(subAgentId) && isText(prompt),
  sub_agent_result: ({ subAgentId, result }) => isText(subAgentId) && isText(result),
  plan_created: ({ plan, steps }) => isText(plan) && isListOf(steps, isText),
  plan_step: ({ step, state }) => isNumber(step) && isText(state),
  plan_mode: ({ active }) => typeof active === "boolean",
  approval: ({ toolCallId, name, decision }) =>
    isText(toolCallId) && isText(name) && isJsonObject(decision),
  approval_mode: ({ mode }) => isText(mode),
  label: ({ targetId, label }) => isText(targetId) && isTextOrNull(label),
  title: ({ title }) => isText(title),
  leaf_moved: ({ from }) => isTextOrNull(from),
  run_ended: ({ stopReason }) => isText(stopReason),
  custom: ({ name }) => isText(name),
};

const BLOCK_CHECKS: Readonly<Record<string, Check>> = {
  text: ({ text }) => isText(text),
  thinking: ({ thinking }) => isText(thinking),
  tool_call: ({ id, name, arguments: args }) => isText(id) && isText(name) && isJsonObject(args),
  image: ({ source }) => isJsonObject(source) && isText(source["type"]),
  extension: ({ typeName }) => isText(typeName),
};

/** What a record turned out to be. */
export type CheckedRecord = "known" | "unknown" | "broken";

/** Tells whether a record is an entry of a known kind, of an unknown one, or none at all. */
export function checkRecord(record: JsonObject): CheckedRecord {
  const { id, parentId, timestamp, type } = record;
  if (!isText(id) || id === "" || !isTextOrNull(parentId) || !isNumber(timestamp)) return "broken";
  if (!isText(type)) return "broken";
  if (!Object.hasOwn(ENTRY_CHECKS, type)) return "unknown";
  return ENTRY_CHECKS[type as keyof typeof ENTRY_CHECKS](record) ? "known" : "broken";
}

/** Tells whether a value is a message whose content can be read. */
export function isMessage(value: unknown): boolean {
  if (!isJsonObject(value) || !isNumber(value["timestamp"])) return false;
  switch (value["role"]) {
    case "user":
      return isContent(value["content"]);
    case "assistant":
      return isContent(value["content"]) && isText(value["provider"]) &&
        isText(value["modelId"]) && isAmounts(value["usage"]) && isAmounts(value["cost"]) &&
        isText(value["stopReason"]);
    case "tool_result":
      return isContent(value["content"]) && isText(value["toolCallId"]) &&
        isText(value["toolName"]) && typeof value["isError"] === "boolean";
    case "custom":
      return isText(value["type"]);
    default:
      return false;
  }
}

function isContent(value: unknown): boolean {
  return isListOf(
    value,
    (block) => isJsonObject(block) && (BLOCK_CHECKS[String(block["type"])]?.(block) ?? false),
  );
}

function isAmounts(value: unknown): boolean {
  return isJsonObject(value) &&
    ["input", "output", "cacheRead", "cacheWrite", "total"].every((key) => isNumber(value[key]));
}

function isCall({ messageId, toolCallId, name }: JsonObject): boolean {
  return isTextOrNull(messageId) && isText(toolCallId) && isText(name);
}

function isToolResult(value: unknown): boolean {
  return isJsonObject(value) && isContent(value["content"]);
}

/** Tells whether a value names a model. */
export function isModel(value: unknown): boolean {
  return isJsonObject(value) && isText(value["provider"]) && isText(value["modelId"]) &&
    isText(value["thinkingLevel"]);
}

/** Tells whether a value lists what waits in both queues. */
export function isQueued(value: unknown): boolean {
  const isItem = (item: unknown) =>
    isJsonObject(item) && isText(item["id"]) && isMessage(item["message"]);
  return isJsonObject(value) && isListOf(value["steering"], isItem) &&
    isListOf(value["followUp"], isItem);
}
