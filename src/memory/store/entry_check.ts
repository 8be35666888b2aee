/**
 * Checks of entries: those to be appended, and the records of a log, which may come from another version, another program
 * or a failing disk. A record without a problem can be used without further checks.
 *
 * @module
 */

import {
  ENVELOPE_DEPTH,
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  MAX_JSON_DEPTH,
} from "../../core/json/json.ts";
import { findContentProblem, findMessageProblem } from "../../core/messages/check_message.ts";
import { isThinkingLevel, type ModelSpec } from "../../core/models/model.ts";
import type { SessionEntry, SessionEntryType } from "../../core/sessions/session_entry.ts";

/** Maximum nesting of an entry: that of tool arguments, and the levels around them. */
export const MAX_ENTRY_DEPTH = MAX_JSON_DEPTH + ENVELOPE_DEPTH;

/** Whether an entry of a log can be copied into another one; one that another program wrote may be nested too deeply. */
export function canStore(entry: SessionEntry): boolean {
  return !isDeeperThan(entry, MAX_ENTRY_DEPTH);
}

/** Returns what is wrong with a member, as a fragment such as `must be a string`; `undefined` if it is valid. */
type Check = (value: unknown) => string | undefined;

const must = (isValid: (value: unknown) => boolean, expected: string): Check => (value) =>
  isValid(value) ? undefined : `must be ${expected}`;

const isString = (value: unknown): value is string => typeof value === "string";
const isArrayWith = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isItem);

const string = must(isString, "a string");
const stringOrNull = must((value) => value === null || isString(value), "a string or null");
const strings = must((value) => isArrayWith(value, isString), "an array of strings");
const number = must((value) => typeof value === "number" && Number.isFinite(value), "a number");
const boolean = must((value) => typeof value === "boolean", "a boolean");
const object = must(isJsonObject, "an object");
const calls = must(
  (value) => isArrayWith(value, isPendingCall),
  "tool calls with an id, a name and arguments",
);
const decidedCalls = must(
  (value) => isArrayWith(value, isDecidedCall),
  "tool calls with an id, a name, arguments and a decision",
);
const grants = must((value) => isArrayWith(value, isGrant), "grants for tools or prefixes");
const call = { messageId: stringOrNull, toolCallId: string, name: string };
const message: Check = (value) => {
  const problem = findStoredMessageProblem(value);
  return problem && `is invalid: ${problem}`;
};
const queues = must(isQueuedMessages, "queues of messages with ids");
const result: Check = (value) => {
  if (!isJsonObject(value)) return "must be an object";
  const problem = findContentProblem(value["content"]);
  return problem && `is invalid: ${problem}`;
};

type Checks = Readonly<Record<string, Check>>;
type KnownType = Exclude<SessionEntryType, "opaque">;

/** The checks of the members that an entry must have, by its type. */
const MEMBER_CHECKS: Readonly<Record<KnownType, Checks>> = {
  message: { message },
  reply_failed: { message },
  tool_started: { ...call, arguments: object, sideEffect: string, idempotencyKey: string },
  tool_finished: { ...call, result, isError: boolean },
  model_changed: { model: must(isModelSpec, "a model") },
  tools_changed: { names: strings },
  system_prompt_changed: { systemPrompt: string },
  queue_changed: { queued: queues },
  compaction: { firstDroppedId: stringOrNull, lastDroppedId: stringOrNull, droppedCount: number },
  sub_agent_message: { path: strings, message },
  sub_agent_spawned: { subAgentId: string, prompt: string },
  sub_agent_result: { subAgentId: string, result: string, isError: boolean },
  plan_created: { plan: string, steps: strings },
  plan_step: { step: number, state: string },
  plan_mode: { active: boolean },
  approval: { toolCallId: string, name: string, decision: must(isDecision, "a decision") },
  approvals_pending: { messageId: stringOrNull, pendingApprovals: calls },
  grants_changed: { grants },
  approval_mode: { mode: string },
  label: { targetId: string, label: stringOrNull },
  title: { title: string },
  leaf_moved: { from: stringOrNull },
  run_ended: { stopReason: string },
  custom: { name: string },
};

/** The checks of the members that an entry may have, by its type. Members that are not named may have any value. */
const OPTION_CHECKS: Readonly<Partial<Record<KnownType, Checks>>> = {
  message: { isCopy: boolean, isBetweenRuns: boolean },
  queue_changed: { delivering: queues },
  tools_changed: { tools: must(Array.isArray, "an array") },
  compaction: { summary: string, isIncomplete: boolean, newestId: string, pinnedIds: strings },
  sub_agent_spawned: {
    name: string,
    toolCallId: string,
    sessionId: string,
    mode: string,
    worktree: must((value) => hasStrings(value, ["directory", "branch"]), "a worktree"),
  },
  sub_agent_result: { status: string, isCounted: boolean },
  plan_created: { approvedHash: string },
  plan_step: { note: string },
  approvals_pending: { decidedCalls },
  run_ended: {
    error: must((value) => hasStrings(value, ["message"]), "an error with a message"),
    stoppedBy: must((value) => hasStrings(value, ["policy", "reason"]), "a policy and a reason"),
  },
};

/** The checks of the members that every message may have. */
const MESSAGE_OPTION_CHECKS: Checks = { errorMessage: string, errorCode: string };

const POSITION_CHECKS = {
  type: string,
  id: must((value) => isString(value) && value !== "", "a string that is not empty"),
  parentId: stringOrNull,
  timestamp: number,
};

/** Whether this version knows an entry type. Records of other types are kept as opaque entries. */
export function isKnownType(type: unknown): type is KnownType {
  return isString(type) && Object.hasOwn(MEMBER_CHECKS, type);
}

/** Returns what is wrong with a record, such as `title must be a string`, or `undefined` if it is an entry. */
export function findEntryProblem(record: JsonObject): string | undefined {
  const problem = findMemberProblem(record, POSITION_CHECKS);
  const { type } = record;
  if (problem || !isKnownType(type)) return problem;
  return findMemberProblem(record, MEMBER_CHECKS[type]) ??
    findOptionProblem(record, OPTION_CHECKS[type]);
}

/** Returns a record of a known type without optional members that are invalid, which must not cost the entry. */
export function omitInvalidOptions(record: JsonObject): JsonObject {
  const { type, message } = record;
  const omitted = isKnownType(type) ? omitOptions(record, OPTION_CHECKS[type]) : record;
  const isMessageEntry = isKnownType(type) && "message" in MEMBER_CHECKS[type];
  if (!isMessageEntry || !isJsonObject(message)) return omitted;
  const omittedMessage = omitOptions(message, MESSAGE_OPTION_CHECKS);
  return omittedMessage === message ? omitted : { ...omitted, message: omittedMessage };
}

function omitOptions(record: JsonObject, checks: Checks = {}): JsonObject {
  const invalid = Object.entries(checks)
    .flatMap(([name, check]) => findOptionProblem(record, { [name]: check }) ? [name] : []);
  if (invalid.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([name]) => !invalid.includes(name)));
}

function findMemberProblem(record: JsonObject, checks: Checks): string | undefined {
  for (const [name, check] of Object.entries(checks)) {
    const problem = check(getOwn(record, name));
    if (problem) return `${name} ${problem}`;
  }
  return undefined;
}

function findOptionProblem(record: JsonObject, checks: Checks = {}): string | undefined {
  for (const [name, check] of Object.entries(checks)) {
    const value = getOwn(record, name);
    const problem = value === undefined ? undefined : check(value);
    if (problem) return `${name} ${problem}`;
  }
  return undefined;
}

function getOwn(record: JsonObject, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Whether a value is a message that a session can have. */
export function isMessage(value: unknown): boolean {
  return findStoredMessageProblem(value) === undefined;
}

function findStoredMessageProblem(value: unknown): string | undefined {
  const problem = findMessageProblem(value);
  if (problem || !isJsonObject(value)) return problem;
  const { role } = value;
  return findMemberProblem(value, {
    timestamp: number,
    ...(role === "assistant" && { ...ASSISTANT_CHECKS, content: callArguments }),
    ...(role === "tool_result" && { isError: boolean }),
  }) ?? findOptionProblem(value, MESSAGE_OPTION_CHECKS);
}

const ASSISTANT_CHECKS = { provider: string, modelId: string, stopReason: string };

/** Checks the arguments of tool calls in valid content. */
function callArguments(content: unknown): string | undefined {
  const isValid = isArrayWith(
    content,
    (block) =>
      !isJsonObject(block) || block["type"] !== "tool_call" || isJsonObject(block["arguments"]),
  );
  return isValid ? undefined : "must have tool calls whose arguments are an object";
}

/** Whether a value is like a `ModelSpec`; a later version may have other thinking levels. */
function isModelSpec(value: unknown): boolean {
  return isJsonObject(value) && isString(value["provider"]) && isString(value["modelId"]) &&
    isString(value["thinkingLevel"]);
}

/** Whether an agent of this version can have a model. */
export function isUsableModel(value: unknown): boolean {
  if (!isModelSpec(value)) return false;
  const { provider, modelId, thinkingLevel } = value as ModelSpec;
  return provider !== "" && modelId !== "" && isThinkingLevel(thinkingLevel);
}

/** Whether a value is a tool call that waits for a decision, or has one. */
export function isPendingCall(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { toolCallId, name, arguments: args, decision } = value;
  return isString(toolCallId) && isString(name) && isJsonObject(args) &&
    (decision === undefined || isDecision(decision));
}

/** Whether a value is a tool call that has a decision. */
export function isDecidedCall(value: unknown): boolean {
  return isPendingCall(value) && isJsonObject(value) && value["decision"] !== undefined;
}

/** The texts that a decision may have. */
const DECISION_TEXTS = ["scope", "prefix", "reason", "rule", "ruleSource", "origin"];

function isDecision(value: unknown): boolean {
  return hasStrings(value, ["type"]) &&
    DECISION_TEXTS.every((name) => ["string", "undefined"].includes(typeof Object(value)[name]));
}

/** Whether a value is an object whose members with these names are strings. */
function hasStrings(value: unknown, names: readonly string[]): boolean {
  return isJsonObject(value) && names.every((name) => isString(value[name]));
}

/** Whether a value is the result of a tool. */
export function isToolResult(value: unknown): boolean {
  return result(value) === undefined;
}

/** Whether a value is a grant of an approval gate. */
export function isGrant(value: unknown): boolean {
  if (!isJsonObject(value) || !isString(value["name"])) return false;
  return value["type"] === "tool" || (value["type"] === "prefix" && isString(value["prefix"]));
}

/** Whether a value is a `QueuedMessages` object. */
export function isQueuedMessages(value: unknown): boolean {
  const isItem = (item: unknown) =>
    isJsonObject(item) && isString(item["id"]) && isMessage(item["message"]);
  return isJsonObject(value) && isArrayWith(value["steering"], isItem) &&
    isArrayWith(value["followUp"], isItem);
}
