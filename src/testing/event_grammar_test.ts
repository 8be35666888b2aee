import { assert, assertEquals, assertExists, assertRejects } from "@std/assert";
import { NetworkError } from "../core/errors.ts";
import type { AgentEvent, AgentEventBody, QueuedMessages } from "../core/event.ts";
import { type AgentMessage, type AssistantMessage, userMessage } from "../core/message.ts";
import { zeroCost, zeroUsage } from "../core/usage.ts";
import { collectEvents } from "./collect_events.ts";
import { checkEvents, checkStream, findViolation } from "./event_grammar.ts";
import { EventOrderError, type EventRule } from "./event_violation.ts";
import { assistantMessage, text, thinking, toolCall, toolResultMessage } from "./messages.ts";

const user = userMessage("What is in a.txt and b.txt?", 0);
const callA = toolCall("read_file", { path: "a.txt" }, { id: "a" });
const callB = toolCall("read_file", { path: "b.txt" }, { id: "b" });
const callingReply = assistantMessage([thinking("Let me see"), text("Reading"), callA, callB]);
const finalReply = assistantMessage("Nothing");
const results = [toolResultMessage(callA, "empty"), toolResultMessage(callB, "empty")];
const queued: QueuedMessages = { steering: [], followUp: [] };

function addSeq(events: readonly AgentEventBody[]): AgentEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

function createMessageEvents(message: AgentMessage): AgentEventBody[] {
  return [{ type: "message_start", message }, { type: "message_end", message }];
}

function createReplyEvents(message: AssistantMessage, updates: AgentEventBody[]): AgentEventBody[] {
  const message_start = { ...message, content: [], usage: zeroUsage() };
  return [{ type: "message_start", message: message_start }, ...updates, {
    type: "message_end",
    message,
  }];
}

function createDeltaUpdate(contentIndex: number, delta: string, kind = "text"): AgentEventBody {
  const type = kind === "text"
    ? "text_delta"
    : kind === "thinking"
    ? "thinking_delta"
    : "tool_call_delta";
  return { type: "message_update", delta: { type, contentIndex, delta } };
}

function createCallUpdate(contentIndex: number, { id, name } = callA): AgentEventBody {
  return { type: "message_update", delta: { type: "tool_call_start", contentIndex, id, name } };
}

function createToolStart({ id, name } = callA): AgentEventBody {
  return { type: "tool_execution_start", id, name, arguments: {} };
}

function createToolEnd({ id, name } = callA): AgentEventBody {
  return { type: "tool_execution_end", id, name, result: { content: [] }, isError: false };
}

function createAgentEnd(messages: readonly AgentMessage[]): AgentEventBody {
  return { type: "agent_end", messages, stopReason: "stop", usage: zeroUsage(), cost: zeroCost() };
}

const start: AgentEventBody[] = [{ type: "agent_start", runId: "r" }, {
  type: "turn_start",
  turn: 1,
}];

const plainTurn: AgentEventBody[] = [
  ...start,
  ...createMessageEvents(user),
  ...createReplyEvents(finalReply, [createDeltaUpdate(0, "Noth"), createDeltaUpdate(0, "ing")]),
  { type: "turn_end", turn: 1, message: finalReply, toolResults: [], reason: "complete" },
  createAgentEnd([user, finalReply]),
];

const callingUpdates = [
  createDeltaUpdate(0, "Let me see", "thinking"),
  createDeltaUpdate(1, "Read"),
  createDeltaUpdate(1, "ing"),
  createCallUpdate(2, callA),
  createDeltaUpdate(2, "{}", "call"),
  createCallUpdate(3, callB),
];

/** Two turns, two calls that were asked about, and results in call order though the second call ended first. */
const toolRun: AgentEventBody[] = [
  ...start,
  ...createMessageEvents(user),
  ...createReplyEvents(callingReply, callingUpdates),
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
  ...createReplyEvents(finalReply, [createDeltaUpdate(0, "Nothing")]),
  { type: "turn_end", turn: 2, message: finalReply, toolResults: [], reason: "complete" },
  createAgentEnd([user, callingReply, ...results, finalReply]),
];

function assertLegal(events: readonly AgentEvent[]): void {
  assertEquals(findViolation(events), undefined);
}

function assertBreaks(rule: EventRule, events: readonly AgentEvent[], position?: number): void {
  const violation = findViolation(events);
  assertExists(violation, "the events are all legal");
  assertEquals(violation.rule, rule, violation.message);
  if (position !== undefined) assertEquals(violation.position, position);
}

/** Replaces what stands between two positions. */
function replaceEvents(
  events: readonly AgentEventBody[],
  from: number,
  { remove = 0, insert = [] }: { remove?: number; insert?: readonly AgentEventBody[] },
): AgentEvent[] {
  return addSeq([...events.slice(0, from), ...insert, ...events.slice(from + remove)]);
}

function findEventIndex(
  events: readonly AgentEventBody[],
  type: AgentEventBody["type"],
  nth = 0,
): number {
  const found = events.flatMap((event, index) => event.type === type ? [index] : [])[nth];
  assertExists(found);
  return found;
}

Deno.test("a turn without tools, and a run with two calls, are legal", () => {
  assertLegal(addSeq(plainTurn));
  assertLegal(addSeq(toolRun));
});

Deno.test("runs follow each other, with news of the queues and the model between them", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  assertLegal([
    { type: "queue_changed", queued },
    ...addSeq(plainTurn),
    { type: "model_changed", from: model, to: model },
    { type: "warning", code: "listener_failed", message: "A listener was removed" },
    ...addSeq(plainTurn),
  ]);
});

Deno.test("warnings, custom events and news stand anywhere in a run", () => {
  const news: AgentEventBody[] = [
    { type: "warning", code: "w", message: "w" },
    { type: "custom", name: "c", data: 1 },
    { type: "queue_changed", queued },
  ];
  for (let at = 1; at < toolRun.length; at++) {
    assertLegal(replaceEvents(toolRun, at, { insert: news }));
  }
});

Deno.test("events that went through JSON are as legal as before", () => {
  assertLegal(JSON.parse(JSON.stringify(addSeq(toolRun))));
});

Deno.test("whatever one event is missing, it is noticed, unless it is a piece of something", () => {
  const pieces = new Set(["tool_execution_update"]);
  toolRun.forEach((event, at) => {
    if (pieces.has(event.type) || isDelta(event, "tool_call_delta")) return;
    const violation = findViolation(replaceEvents(toolRun, at, { remove: 1 }));
    assertExists(violation, `nobody missed event ${at}, ${event.type}`);
  });
});

Deno.test("whatever one event comes twice, it is noticed, unless it is a piece of something", () => {
  toolRun.forEach((event, at) => {
    if (event.type === "tool_execution_update" || isDelta(event, "tool_call_delta")) return;
    const violation = findViolation(replaceEvents(toolRun, at, { insert: [event] }));
    assertExists(violation, `nobody noticed a second event ${at}, ${event.type}`);
  });
});

Deno.test("whatever run ends too early, it is noticed", () => {
  for (let length = 1; length < toolRun.length; length++) {
    assertBreaks("run", addSeq(toolRun.slice(0, length)), length);
  }
});

Deno.test("numbers run from 1 without a gap, and only within runs", () => {
  const events = addSeq(plainTurn);
  assertBreaks("number", events.map((event) => ({ ...event, seq: (event.seq ?? 0) - 1 })), 0);
  assertBreaks("number", events.toSpliced(5, 1), 5);
  assertBreaks("number", [{ type: "queue_changed", queued, seq: 1 }], 0);
});

Deno.test("nothing of a run stands outside of it, and runs do not overlap", () => {
  assertBreaks("run", addSeq([{ type: "turn_start", turn: 1 }]), 0);
  assertBreaks("run", addSeq([...start, { type: "agent_start", runId: "r2" }]), 2);
  assertBreaks("run", [...addSeq(plainTurn), { type: "turn_start", turn: 2, seq: 12 }]);
});

Deno.test("turns are numbered, and closed before the run ends", () => {
  assertBreaks(
    "turn",
    addSeq([{ type: "agent_start", runId: "r" }, { type: "turn_start", turn: 2 }]),
    1,
  );
  assertBreaks("turn", addSeq([...start, { type: "turn_start", turn: 2 }]), 2);
  assertBreaks("turn", addSeq([...start, createAgentEnd([])]), 2);
  const end = findEventIndex(plainTurn, "turn_end");
  assertBreaks("turn", replaceEvents(plainTurn, end, { remove: 1 }), end);
});

Deno.test("a run may end before its first turn", () => {
  assertLegal(addSeq([{ type: "agent_start", runId: "r" }, createAgentEnd([])]));
});

Deno.test("a turn that failed or was aborted is the last", () => {
  for (const reason of ["error", "aborted"] as const) {
    const failed = assistantMessage("Noth", { stopReason: reason });
    const events: AgentEventBody[] = [
      ...start,
      ...createMessageEvents(user),
      ...createReplyEvents(failed, [createDeltaUpdate(0, "Noth")]),
      { type: "turn_end", turn: 1, message: failed, toolResults: [], reason },
    ];
    const end = { ...createAgentEnd([user, failed]), stopReason: reason } as AgentEventBody;
    assertLegal(addSeq([...events, end]));
    assertBreaks("turn", addSeq([...events, { type: "turn_start", turn: 2 }, end]), 8);
    assertBreaks("summary", addSeq([...events, createAgentEnd([user, failed])]), 8);
  }
});

Deno.test("a reply that says nothing is told, but is not among the run's messages", () => {
  const empty = assistantMessage([], { stopReason: "error" });
  const events: AgentEventBody[] = [
    ...start,
    ...createMessageEvents(user),
    ...createReplyEvents(empty, []),
    { type: "turn_end", turn: 1, message: empty, toolResults: [], reason: "error" },
  ];
  const outcome = { stopReason: "error" } as const;
  assertLegal(addSeq([...events, { ...createAgentEnd([user]), ...outcome } as AgentEventBody]));
  assertBreaks(
    "summary",
    addSeq([...events, { ...createAgentEnd([user, empty]), ...outcome } as AgentEventBody]),
  );
});

Deno.test("a message ends as the message that began, before the next begins", () => {
  const other = userMessage("other", 0);
  const at = findEventIndex(plainTurn, "message_end");
  assertBreaks(
    "message",
    replaceEvents(plainTurn, at, { remove: 1, insert: [{ type: "message_end", message: other }] }),
    at,
  );
  assertBreaks("message", replaceEvents(plainTurn, at, { insert: createMessageEvents(other) }), at);
  assertBreaks(
    "message",
    replaceEvents(plainTurn, at + 1, { insert: [{ type: "message_end", message: user }] }),
    at + 1,
  );
  const end = findEventIndex(plainTurn, "turn_end");
  assertBreaks(
    "message",
    replaceEvents(plainTurn, end, { insert: createMessageEvents(other) }),
    end,
  );
});

Deno.test("deltas belong to a reply that streams and to its blocks, which may grow side by side", () => {
  const at = findEventIndex(plainTurn, "message_update");
  const parts = [
    createDeltaUpdate(1, "th"),
    createDeltaUpdate(0, "No"),
    createDeltaUpdate(1, "ing"),
  ];
  assertLegal(replaceEvents(plainTurn, at, { remove: 2, insert: parts }));
  assertBreaks(
    "reply",
    replaceEvents(plainTurn, 2, { insert: [createDeltaUpdate(0, "early")] }),
    2,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainTurn, at + 1, { insert: [createDeltaUpdate(0, "x", "thinking")] }),
    at + 1,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainTurn, at, { insert: [createDeltaUpdate(0, "{", "call")] }),
    at,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainTurn, at + 1, { insert: [createCallUpdate(0)] }),
    at + 1,
  );
});

Deno.test("deltas add up to the finished message", () => {
  const at = findEventIndex(plainTurn, "message_update");
  const end = findEventIndex(plainTurn, "message_end", 1);
  assertBreaks(
    "reply",
    replaceEvents(plainTurn, at, { insert: [createDeltaUpdate(0, "!")] }),
    end + 1,
  );
  const call = findEventIndex(toolRun, "message_update", 3);
  assertBreaks("reply", replaceEvents(toolRun, call, { remove: 2 }));
});

Deno.test("what a failed attempt has shown is void, and must be said to be", () => {
  const error = new NetworkError("reset");
  const retry = (discard: boolean): AgentEventBody => ({
    type: "retry",
    attempt: 1,
    delayMs: 1000,
    error,
    discard,
  });
  const at = findEventIndex(plainTurn, "message_update");
  assertLegal(replaceEvents(plainTurn, at, { insert: [retry(false)] }));
  assertLegal(
    replaceEvents(plainTurn, at, {
      insert: [createDeltaUpdate(0, "Well"), createCallUpdate(1), retry(true)],
    }),
  );
  assertLegal(replaceEvents(plainTurn, at - 1, { insert: [retry(false)] }));
  assertBreaks(
    "reply",
    replaceEvents(plainTurn, at, { insert: [createDeltaUpdate(0, "Well"), retry(false)] }),
    at + 1,
  );
  assertBreaks(
    "reply",
    replaceEvents(plainTurn, findEventIndex(plainTurn, "turn_end"), { insert: [retry(true)] }),
  );
});

Deno.test("a fallback model and a shrunken context start the reply again", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  const report = { droppedCount: 1, tokensBefore: 9, tokensAfter: 3 };
  const at = findEventIndex(plainTurn, "message_update");
  for (
    const event of [
      { type: "model_fallback", from: model, to: model },
      { type: "context_compacted", report },
    ] satisfies AgentEventBody[]
  ) {
    assertLegal(replaceEvents(plainTurn, 2, { insert: [event] }));
    assertLegal(replaceEvents(plainTurn, at, { insert: [createDeltaUpdate(0, "Well"), event] }));
  }
});

Deno.test("questions come before any call, in call order, each with its answer", () => {
  const ask = (id: string): AgentEventBody => ({
    type: "tool_approval_requested",
    id,
    name: "read_file",
    arguments: {},
  });
  const answer = (id: string): AgentEventBody => ({
    type: "tool_approval_resolved",
    id,
    decision: { type: "denied" },
  });
  const at = findEventIndex(toolRun, "tool_approval_requested");
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    replaceEvents(toolRun, at, { remove: 2, insert });
  assertLegal(swap([]));
  assertLegal(swap([ask("b"), answer("b")]));
  assertBreaks("approval", swap([ask("b"), answer("b"), ask("a"), answer("a")]), at + 2);
  assertBreaks("approval", swap([ask("a"), ask("b"), answer("a"), answer("b")]), at + 1);
  assertBreaks("approval", swap([ask("a")]), at + 1);
  assertBreaks("approval", swap([answer("a")]), at);
  assertBreaks("approval", swap([createToolStart(callA), ask("b"), answer("b")]), at + 1);
  assertBreaks("tool", swap([ask("c")]), at);
});

Deno.test("refused calls begin and end first, the others begin in call order", () => {
  const from = findEventIndex(toolRun, "tool_execution_start");
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    replaceEvents(toolRun, from, { remove: 5, insert });
  assertLegal(
    swap([
      createToolStart(callB),
      createToolEnd(callB),
      createToolStart(callA),
      createToolEnd(callA),
    ]),
  );
  assertLegal(
    swap([
      createToolStart(callA),
      createToolEnd(callA),
      createToolStart(callB),
      createToolEnd(callB),
    ]),
  );
  assertBreaks(
    "tool",
    swap([
      createToolStart(callB),
      createToolStart(callA),
      createToolEnd(callA),
      createToolEnd(callB),
    ]),
    from + 1,
  );
});

Deno.test("a call begins and ends once, under its own name, and is updated in between", () => {
  const from = findEventIndex(toolRun, "tool_execution_start");
  const end = findEventIndex(toolRun, "tool_execution_end", 1);
  const stranger = toolCall("read_file", {}, { id: "c" });
  const renamed = { ...callA, name: "write_file" };
  assertBreaks("tool", replaceEvents(toolRun, from, { insert: [createToolStart(stranger)] }), from);
  assertBreaks("tool", replaceEvents(toolRun, from, { insert: [createToolStart(renamed)] }), from);
  assertBreaks("tool", replaceEvents(toolRun, from, { insert: [createToolEnd(callA)] }), from);
  assertBreaks(
    "tool",
    replaceEvents(toolRun, end, { remove: 1, insert: [createToolEnd(renamed)] }),
    end,
  );
  const late: AgentEventBody = { type: "tool_execution_update", id: "a", update: "late" };
  assertBreaks("tool", replaceEvents(toolRun, end + 1, { insert: [late] }), end + 1);
  assertBreaks("tool", replaceEvents(plainTurn, 4, { insert: [createToolStart(callA)] }), 4);
});

Deno.test("results come after all calls have ended, in call order, one for each", () => {
  const from = findEventIndex(toolRun, "tool_execution_end", 1) + 1;
  const [first, second] = results;
  assert(first && second);
  assertBreaks(
    "result",
    replaceEvents(toolRun, from, {
      remove: 4,
      insert: [...createMessageEvents(second), ...createMessageEvents(first)],
    }),
    from,
  );
  assertBreaks(
    "result",
    replaceEvents(toolRun, from + 4, { insert: createMessageEvents(first) }),
    from + 4,
  );
  assertBreaks("result", replaceEvents(toolRun, from, { remove: 2 }), from);
  assertBreaks(
    "tool",
    replaceEvents(toolRun, from - 1, { insert: createMessageEvents(first) }),
    from - 1,
  );
});

Deno.test("the ends sum up what was told", () => {
  const swap = (change: Partial<Extract<AgentEventBody, { type: "turn_end" }>>): AgentEvent[] => {
    const at = findEventIndex(toolRun, "turn_end");
    const event = { ...toolRun[at], ...change } as AgentEventBody;
    return replaceEvents(toolRun, at, { remove: 1, insert: [event] });
  };
  const at = findEventIndex(toolRun, "turn_end");
  assertBreaks("summary", swap({ toolResults: results.toReversed() }), at);
  assertBreaks("summary", swap({ toolResults: [] }), at);
  assertBreaks("summary", swap({ message: finalReply }), at);
  assertBreaks("summary", swap({ reason: "complete" }), at);
  assertBreaks("summary", swap({ reason: "error" }), at);
  assertBreaks("turn", swap({ turn: 2 }), at);
  const end = toolRun.length - 1;
  assertBreaks(
    "summary",
    replaceEvents(toolRun, end, { remove: 1, insert: [createAgentEnd([user])] }),
    end,
  );
});

Deno.test("ids of calls are unique and not empty", () => {
  for (const id of ["", "a"]) {
    const message = assistantMessage([callA, { ...callB, id }]);
    assertBreaks(
      "tool",
      addSeq([
        ...start,
        ...createReplyEvents(message, [createCallUpdate(0), createCallUpdate(1, callB)]),
      ]),
    );
  }
});

Deno.test("checkEvents gives the events of a list and of a stream, or throws the first violation", async () => {
  const events = addSeq(toolRun);
  assertEquals(await checkEvents(events), events);
  assertEquals(await checkEvents(ReadableStream.from(events)), events);
  const error = await assertRejects(() => checkEvents(events.slice(0, 5)), EventOrderError);
  assertEquals(error.message, "Event 5 (the end): the run has no agent_end");
  assertEquals(error.violation.rule, "run");
});

Deno.test("a checked stream passes events on and fails at the first illegal one", async () => {
  const legal = addSeq(toolRun);
  assertEquals(await collectEvents(checkStream(ReadableStream.from(legal))), legal);
  const seen: AgentEvent[] = [];
  const illegal = [...legal.slice(0, 4), ...legal.slice(5)];
  await assertRejects(
    async () => {
      for await (const event of checkStream(ReadableStream.from(illegal))) seen.push(event);
    },
    EventOrderError,
    "Event 4 (message_update): 6 where 5 is next",
  );
  assertEquals(seen, legal.slice(0, 4));
});

Deno.test("a checked stream reads nothing ahead, and cancels what it reads", async () => {
  let pulled = 0;
  let cancelled: unknown;
  const source = new ReadableStream<AgentEvent>({
    pull(controller) {
      const event = addSeq(toolRun)[pulled++];
      if (event) controller.enqueue(event);
    },
    cancel: (reason) => {
      cancelled = reason;
    },
  }, { highWaterMark: 0 });
  const reader = checkStream(source).getReader();
  await reader.read();
  await reader.read();
  assertEquals(pulled, 2);
  await reader.cancel("enough");
  assertEquals(cancelled, "enough");
});

function isDelta(event: AgentEventBody, type: string): boolean {
  return event.type === "message_update" && event.delta.type === type;
}
