/**
 * Legal event sequences, and functions that change and check them.
 *
 * @module
 */

import { assertEquals, assertExists } from "@std/assert";
import type { AgentEvent, AgentEventBody } from "../../src/core/event.ts";
import { type AgentMessage, type AssistantMessage, userMessage } from "../../src/core/message.ts";
import { zeroCost, zeroUsage } from "../../src/core/usage.ts";
import {
  assistantMessage,
  type EventRule,
  findViolation,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../src/testing/mod.ts";

/** The prompt of both runs. */
export const user = userMessage("What is in a.txt and b.txt?", 0);
/** The calls of `toolRun`. */
export const callA = toolCall("read_file", { path: "a.txt" }, { id: "a" });
export const callB = toolCall("read_file", { path: "b.txt" }, { id: "b" });
/** The results of the calls, in call order. */
export const results = [toolResultMessage(callA, "empty"), toolResultMessage(callB, "empty")];
/** The last reply of both runs. */
export const finalReply = assistantMessage("Nothing");
const callingReply = assistantMessage([thinking("Let me see"), text("Reading"), callA, callB]);

/** The start of a run and of its first turn. */
export const runStart: AgentEventBody[] = [
  { type: "agent_start", runId: "r" },
  { type: "turn_start", turn: 1 },
];

/** A run of one turn without tools. */
export const plainRun: AgentEventBody[] = [
  ...runStart,
  ...createMessageEvents(user),
  ...createReplyEvents(finalReply, [createDelta(0, "Noth"), createDelta(0, "ing")]),
  { type: "turn_end", turn: 1, message: finalReply, toolResults: [], reason: "complete" },
  createAgentEnd([user, finalReply]),
];

/** A run of two turns with two calls, one of them approved; the second call ends first. */
export const toolRun: AgentEventBody[] = [
  ...runStart,
  ...createMessageEvents(user),
  ...createReplyEvents(callingReply, [
    createDelta(0, "Let me see", "thinking"),
    createDelta(1, "Read"),
    createDelta(1, "ing"),
    createCallDelta(2, callA),
    createDelta(2, "{}", "tool_call"),
    createCallDelta(3, callB),
  ]),
  { type: "tool_approval_requested", id: "a", name: "read_file", arguments: {} },
  { type: "tool_approval_resolved", id: "a", decision: { type: "approved" } },
  createToolStart(callA),
  createToolStart(callB),
  { type: "tool_execution_update", id: "a", update: "half" },
  createToolEnd(callB),
  createToolEnd(callA),
  ...results.flatMap(createMessageEvents),
  {
    type: "turn_end",
    turn: 1,
    message: callingReply,
    toolResults: results,
    reason: "tools_executed",
  },
  { type: "turn_start", turn: 2 },
  ...createReplyEvents(finalReply, [createDelta(0, "Nothing")]),
  { type: "turn_end", turn: 2, message: finalReply, toolResults: [], reason: "complete" },
  createAgentEnd([user, callingReply, ...results, finalReply]),
];

/** Numbers the events of a run. */
export function addSeq(events: readonly AgentEventBody[]): AgentEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

/** Creates start and end of a message. */
export function createMessageEvents(message: AgentMessage): AgentEventBody[] {
  return [{ type: "message_start", message }, { type: "message_end", message }];
}

/** Creates the events of a reply with the given deltas. */
export function createReplyEvents(
  message: AssistantMessage,
  deltas: AgentEventBody[],
): AgentEventBody[] {
  const emptyMessage = { ...message, content: [], usage: zeroUsage() };
  return [
    { type: "message_start", message: emptyMessage },
    ...deltas,
    { type: "message_end", message },
  ];
}

/** Creates a delta of a block. */
export function createDelta(
  contentIndex: number,
  delta: string,
  block: "text" | "thinking" | "tool_call" = "text",
): AgentEventBody {
  return { type: "message_update", delta: { type: `${block}_delta`, contentIndex, delta } };
}

/** Creates the start of a streamed call. */
export function createCallDelta(contentIndex: number, { id, name } = callA): AgentEventBody {
  return { type: "message_update", delta: { type: "tool_call_start", contentIndex, id, name } };
}

/** Creates the start of an execution. */
export function createToolStart({ id, name } = callA): AgentEventBody {
  return { type: "tool_execution_start", id, name, arguments: {} };
}

/** Creates the end of an execution. */
export function createToolEnd({ id, name } = callA): AgentEventBody {
  return { type: "tool_execution_end", id, name, result: { content: [] }, isError: false };
}

/** Creates the end of a run. */
export function createAgentEnd(
  messages: readonly AgentMessage[],
  stopReason: "stop" | "error" | "aborted" = "stop",
): AgentEventBody {
  return { type: "agent_end", messages, stopReason, usage: zeroUsage(), cost: zeroCost() };
}

/** Removes and inserts events at an index. */
export function replaceEvents(
  events: readonly AgentEventBody[],
  index: number,
  { remove = 0, insert = [] }: { remove?: number; insert?: readonly AgentEventBody[] },
): AgentEvent[] {
  return addSeq(events.toSpliced(index, remove, ...insert));
}

/** Finds the index of the nth event of a type, from 0. */
export function findEventIndex(
  events: readonly AgentEventBody[],
  type: AgentEventBody["type"],
  nth = 0,
): number {
  const index = events.flatMap((event, index) => event.type === type ? [index] : [])[nth];
  assertExists(index);
  return index;
}

/** Asserts that no event breaks a rule. */
export function assertLegal(events: readonly AgentEvent[]): void {
  assertEquals(findViolation(events), undefined);
}

/** Asserts that the first violation breaks a rule, at a position if given. */
export function assertBreaks(
  rule: EventRule,
  events: readonly AgentEvent[],
  position?: number,
): void {
  const violation = findViolation(events);
  assertExists(violation, "all events are legal");
  assertEquals(violation.rule, rule, violation.message);
  if (position !== undefined) assertEquals(violation.position, position);
}
