/**
 * Legal event sequences, and functions that change and check them.
 *
 * @module
 */

import { assertEquals, assertExists } from "@std/assert";
import { type AgentError, NetworkError } from "../../src/core/errors/errors.ts";
import type { AgentEndEvent, AgentEvent, AgentEventBody } from "../../src/core/events/event.ts";
import {
  type AgentMessage,
  type AssistantMessage,
  userMessage,
} from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { zeroCost, zeroUsage } from "../../src/core/models/usage.ts";
import {
  assistantMessage,
  type EventRule,
  findViolation,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../src/testing/mod.ts";

/** The model of all model calls. */
export const model: ModelSpec = { provider: "p", modelId: "m", thinkingLevel: "off" };
/** The error of failed model calls. */
export const networkError = new NetworkError("Connection reset");
/** The prompt of the runs. */
export const user: AgentMessage = {
  ...userMessage("What is in a.txt and b.txt?", 0),
  id: "message_1",
};
/** The calls of `toolRun`. */
export const callA = toolCall("read_file", { path: "a.txt" }, { id: "a" });
export const callB = toolCall("read_file", { path: "b.txt" }, { id: "b" });
/** The reply with the calls. */
export const callingReply = assistantMessage(
  [thinking("Let me see"), text("Reading"), callA, callB],
  { id: "message_2" },
);
/** The results of the calls, in call order. */
export const results = [
  { ...toolResultMessage(callA, "empty"), id: "message_3" },
  { ...toolResultMessage(callB, "empty"), id: "message_4" },
];
/** The last reply of the runs. */
export const finalReply = assistantMessage("Nothing", { id: "message_5" });

/** The start of a run and of its first turn. */
export const runStart: AgentEventBody[] = [
  { type: "agent_start", runId: "r" },
  { type: "turn_start", turn: 1 },
];

/** A run of one turn without tools. */
export const plainRun: AgentEventBody[] = [
  ...runStart,
  ...createMessageEvents(user),
  ...createReplyEvents(
    finalReply,
    createAttempt([createDelta(0, "Noth"), createDelta(0, "ing")]),
  ),
  { type: "turn_end", turn: 1, message: finalReply, toolResults: [], reason: "complete" },
  createAgentEnd([user, finalReply]),
];

/** The start of the runs with calls, up to the end of the reply that makes them. */
const callingTurn: AgentEventBody[] = [
  ...runStart,
  ...createMessageEvents(user),
  ...createReplyEvents(
    callingReply,
    createAttempt([
      createDelta(0, "Let me see", "thinking"),
      createDelta(1, "Read"),
      createDelta(1, "ing"),
      createCallDelta(2, callA),
      createDelta(2, "{}", "tool_call"),
      createCallDelta(3, callB),
    ]),
  ),
];

/** The execution of both calls, of which the second one ends first, and a turn without calls. */
const execution: AgentEventBody[] = [
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
  ...createReplyEvents(finalReply, createAttempt([createDelta(0, "Nothing")], { turn: 2 })),
  { type: "turn_end", turn: 2, message: finalReply, toolResults: [], reason: "complete" },
];

/** A run of two turns with two calls, one of them approved; the second call ends first. */
export const toolRun: AgentEventBody[] = [
  ...callingTurn,
  createApprovalRequest("a"),
  createApproval("a"),
  ...execution,
  createAgentEnd([user, callingReply, ...results, finalReply]),
];

/** A run that ends because the approval of the first of two calls is pending. */
export const pendingRun: AgentEventBody[] = [
  ...callingTurn,
  createApprovalRequest("a"),
  createApprovalRequest("b"),
  createApproval("b"),
  {
    type: "turn_end",
    turn: 1,
    message: callingReply,
    toolResults: [],
    reason: "approval_pending",
  },
  {
    ...createAgentEnd([user, callingReply]),
    pendingApprovals: [{ toolCallId: "a", name: "read_file", arguments: {} }],
  },
];

/** The run that continues `pendingRun`. */
export const resumedRun: AgentEventBody[] = [
  ...runStart,
  createApproval("a"),
  ...execution,
  createAgentEnd([...results, finalReply]),
];

/** Numbers the events of a run. */
export function addSeq(events: readonly AgentEventBody[]): AgentEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

/** Creates start and end of a message. */
export function createMessageEvents(message: AgentMessage): AgentEventBody[] {
  return [{ type: "message_start", message }, { type: "message_end", message }];
}

/** Creates the start and the end of a reply, with the given events in between. */
export function createReplyEvents(
  message: AssistantMessage,
  events: readonly AgentEventBody[],
): AgentEventBody[] {
  const emptyMessage = { ...message, content: [], usage: zeroUsage() };
  return [
    { type: "message_start", message: emptyMessage },
    ...events,
    { type: "message_end", message },
  ];
}

/** Creates the start and the end of a model call, with the given events in between. */
export function createAttempt(
  events: readonly AgentEventBody[],
  { turn = 1, attempt = 1, error }: { turn?: number; attempt?: number; error?: AgentError } = {},
): AgentEventBody[] {
  return [
    { type: "model_call_start", turn, attempt, model },
    ...events,
    {
      type: "model_call_end",
      turn,
      attempt,
      model,
      durationMs: 0,
      usage: zeroUsage(),
      cost: zeroCost(),
      ...(error && { error }),
    },
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

/** Creates the request for the approval of a call. */
export function createApprovalRequest(id: string): AgentEventBody {
  return { type: "tool_approval_requested", id, name: "read_file", arguments: {} };
}

/** Creates the decision on a call. */
export function createApproval(
  id: string,
  type: "approved" | "denied" = "approved",
): AgentEventBody {
  return { type: "tool_approval_resolved", id, decision: { type } };
}

/** Creates the start of an execution. */
export function createToolStart({ id, name } = callA): AgentEventBody {
  return { type: "tool_execution_start", id, name, arguments: {} };
}

/** Creates the end of an execution. */
export function createToolEnd({ id, name } = callA, isError = false): AgentEventBody {
  return { type: "tool_execution_end", id, name, result: { content: [] }, isError };
}

/** Creates the end of a run. */
export function createAgentEnd(
  messages: readonly AgentMessage[],
  stopReason: "stop" | "error" | "aborted" = "stop",
): AgentEndEvent {
  return {
    type: "agent_end",
    messages,
    stopReason,
    usage: zeroUsage(),
    cost: zeroCost(),
    ...(stopReason === "error" && { error: networkError }),
  };
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
