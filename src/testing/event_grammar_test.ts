import { assert, assertEquals, assertExists, assertRejects } from "@std/assert";
import { NetworkError } from "../core/errors.ts";
import type { AgentEvent, AgentEventBody, QueuedMessages } from "../core/event.ts";
import { type AgentMessage, type AssistantMessage, userMessage } from "../core/message.ts";
import { zeroCost, zeroUsage } from "../core/usage.ts";
import { collectEvents } from "./collect_events.ts";
import { checkedStream, checkEvents, findViolation } from "./event_grammar.ts";
import { EventOrderError, type EventRule } from "./event_violation.ts";
import { assistantMessage, text, thinking, toolCall, toolResultMessage } from "./messages.ts";

const user = userMessage("What is in a.txt and b.txt?", 0);
const callA = toolCall("read_file", { path: "a.txt" }, { id: "a" });
const callB = toolCall("read_file", { path: "b.txt" }, { id: "b" });
const asking = assistantMessage([thinking("Let me see"), text("Reading"), callA, callB]);
const answering = assistantMessage("Nothing");
const results = [toolResultMessage(callA, "empty"), toolResultMessage(callB, "empty")];
const queued: QueuedMessages = { steering: [], followUp: [] };

function numbered(events: readonly AgentEventBody[]): AgentEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1 }));
}

function said(message: AgentMessage): AgentEventBody[] {
  return [{ type: "message_start", message }, { type: "message_end", message }];
}

function replied(message: AssistantMessage, updates: AgentEventBody[]): AgentEventBody[] {
  const message_start = { ...message, content: [], usage: zeroUsage() };
  return [{ type: "message_start", message: message_start }, ...updates, {
    type: "message_end",
    message,
  }];
}

function shown(contentIndex: number, delta: string, kind = "text"): AgentEventBody {
  const type = kind === "text"
    ? "text_delta"
    : kind === "thinking"
    ? "thinking_delta"
    : "tool_call_delta";
  return { type: "message_update", delta: { type, contentIndex, delta } };
}

function calling(contentIndex: number, { id, name } = callA): AgentEventBody {
  return { type: "message_update", delta: { type: "tool_call_start", contentIndex, id, name } };
}

function begun({ id, name } = callA): AgentEventBody {
  return { type: "tool_execution_start", id, name, arguments: {} };
}

function ended({ id, name } = callA): AgentEventBody {
  return { type: "tool_execution_end", id, name, result: { content: [] }, isError: false };
}

function agentEnd(messages: readonly AgentMessage[]): AgentEventBody {
  return { type: "agent_end", messages, stopReason: "stop", usage: zeroUsage(), cost: zeroCost() };
}

const start: AgentEventBody[] = [{ type: "agent_start", runId: "r" }, {
  type: "turn_start",
  turn: 1,
}];

const plainTurn: AgentEventBody[] = [
  ...start,
  ...said(user),
  ...replied(answering, [shown(0, "Noth"), shown(0, "ing")]),
  { type: "turn_end", turn: 1, message: answering, toolResults: [], reason: "complete" },
  agentEnd([user, answering]),
];

const askingUpdates = [
  shown(0, "Let me see", "thinking"),
  shown(1, "Read"),
  shown(1, "ing"),
  calling(2, callA),
  shown(2, "{}", "call"),
  calling(3, callB),
];

/** Two turns, two calls that were asked about, and results in call order though the second call ended first. */
const toolRun: AgentEventBody[] = [
  ...start,
  ...said(user),
  ...replied(asking, askingUpdates),
  { type: "tool_approval_requested", id: "a", name: "read_file", arguments: {} },
  { type: "tool_approval_resolved", id: "a", decision: { type: "approved" } },
  begun(callA),
  begun(callB),
  { type: "tool_execution_update", id: "a", update: "half" },
  ended(callB),
  ended(callA),
  ...results.flatMap(said),
  { type: "turn_end", turn: 1, message: asking, toolResults: results, reason: "tools_executed" },
  { type: "turn_start", turn: 2 },
  ...replied(answering, [shown(0, "Nothing")]),
  { type: "turn_end", turn: 2, message: answering, toolResults: [], reason: "complete" },
  agentEnd([user, asking, ...results, answering]),
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
function patched(
  events: readonly AgentEventBody[],
  from: number,
  { remove = 0, insert = [] }: { remove?: number; insert?: readonly AgentEventBody[] },
): AgentEvent[] {
  return numbered([...events.slice(0, from), ...insert, ...events.slice(from + remove)]);
}

function indexOf(events: readonly AgentEventBody[], type: AgentEventBody["type"], nth = 0): number {
  const found = events.flatMap((event, index) => event.type === type ? [index] : [])[nth];
  assertExists(found);
  return found;
}

Deno.test("a turn without tools, and a run with two calls, are legal", () => {
  assertLegal(numbered(plainTurn));
  assertLegal(numbered(toolRun));
});

Deno.test("runs follow each other, with news of the queues and the model between them", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  assertLegal([
    { type: "queue_changed", queued },
    ...numbered(plainTurn),
    { type: "model_changed", from: model, to: model },
    { type: "warning", code: "listener_failed", message: "A listener was removed" },
    ...numbered(plainTurn),
  ]);
});

Deno.test("warnings, custom events and news stand anywhere in a run", () => {
  const news: AgentEventBody[] = [
    { type: "warning", code: "w", message: "w" },
    { type: "custom", name: "c", data: 1 },
    { type: "queue_changed", queued },
  ];
  for (let at = 1; at < toolRun.length; at++) assertLegal(patched(toolRun, at, { insert: news }));
});

Deno.test("events that went through JSON are as legal as before", () => {
  assertLegal(JSON.parse(JSON.stringify(numbered(toolRun))));
});

Deno.test("whatever one event is missing, it is noticed, unless it is a piece of something", () => {
  const pieces = new Set(["tool_execution_update"]);
  toolRun.forEach((event, at) => {
    if (pieces.has(event.type) || isDeltaOf(event, "tool_call_delta")) return;
    const violation = findViolation(patched(toolRun, at, { remove: 1 }));
    assertExists(violation, `nobody missed event ${at}, ${event.type}`);
  });
});

Deno.test("whatever one event comes twice, it is noticed, unless it is a piece of something", () => {
  toolRun.forEach((event, at) => {
    if (event.type === "tool_execution_update" || isDeltaOf(event, "tool_call_delta")) return;
    const violation = findViolation(patched(toolRun, at, { insert: [event] }));
    assertExists(violation, `nobody noticed a second event ${at}, ${event.type}`);
  });
});

Deno.test("whatever run ends too early, it is noticed", () => {
  for (let length = 1; length < toolRun.length; length++) {
    assertBreaks("run", numbered(toolRun.slice(0, length)), length);
  }
});

Deno.test("numbers run from 1 without a gap, and only within runs", () => {
  const events = numbered(plainTurn);
  assertBreaks("number", events.map((event) => ({ ...event, seq: (event.seq ?? 0) - 1 })), 0);
  assertBreaks("number", events.toSpliced(5, 1), 5);
  assertBreaks("number", [{ type: "queue_changed", queued, seq: 1 }], 0);
});

Deno.test("nothing of a run stands outside of it, and runs do not overlap", () => {
  assertBreaks("run", numbered([{ type: "turn_start", turn: 1 }]), 0);
  assertBreaks("run", numbered([...start, { type: "agent_start", runId: "r2" }]), 2);
  assertBreaks("run", [...numbered(plainTurn), { type: "turn_start", turn: 2, seq: 12 }]);
});

Deno.test("turns are numbered, and closed before the run ends", () => {
  assertBreaks(
    "turn",
    numbered([{ type: "agent_start", runId: "r" }, { type: "turn_start", turn: 2 }]),
    1,
  );
  assertBreaks("turn", numbered([...start, { type: "turn_start", turn: 2 }]), 2);
  assertBreaks("turn", numbered([...start, agentEnd([])]), 2);
  const end = indexOf(plainTurn, "turn_end");
  assertBreaks("turn", patched(plainTurn, end, { remove: 1 }), end);
});

Deno.test("a run may end before its first turn", () => {
  assertLegal(numbered([{ type: "agent_start", runId: "r" }, agentEnd([])]));
});

Deno.test("a turn that failed or was aborted is the last", () => {
  for (const reason of ["error", "aborted"] as const) {
    const failed = assistantMessage("Noth", { stopReason: reason });
    const events: AgentEventBody[] = [
      ...start,
      ...said(user),
      ...replied(failed, [shown(0, "Noth")]),
      { type: "turn_end", turn: 1, message: failed, toolResults: [], reason },
    ];
    const end = { ...agentEnd([user, failed]), stopReason: reason } as AgentEventBody;
    assertLegal(numbered([...events, end]));
    assertBreaks("turn", numbered([...events, { type: "turn_start", turn: 2 }, end]), 8);
    assertBreaks("summary", numbered([...events, agentEnd([user, failed])]), 8);
  }
});

Deno.test("a reply that says nothing is told, but is not among the run's messages", () => {
  const empty = assistantMessage([], { stopReason: "error" });
  const events: AgentEventBody[] = [
    ...start,
    ...said(user),
    ...replied(empty, []),
    { type: "turn_end", turn: 1, message: empty, toolResults: [], reason: "error" },
  ];
  const outcome = { stopReason: "error" } as const;
  assertLegal(numbered([...events, { ...agentEnd([user]), ...outcome } as AgentEventBody]));
  assertBreaks(
    "summary",
    numbered([...events, { ...agentEnd([user, empty]), ...outcome } as AgentEventBody]),
  );
});

Deno.test("a message ends as the message that began, before the next begins", () => {
  const other = userMessage("other", 0);
  const at = indexOf(plainTurn, "message_end");
  assertBreaks(
    "message",
    patched(plainTurn, at, { remove: 1, insert: [{ type: "message_end", message: other }] }),
    at,
  );
  assertBreaks("message", patched(plainTurn, at, { insert: said(other) }), at);
  assertBreaks(
    "message",
    patched(plainTurn, at + 1, { insert: [{ type: "message_end", message: user }] }),
    at + 1,
  );
  const end = indexOf(plainTurn, "turn_end");
  assertBreaks("message", patched(plainTurn, end, { insert: said(other) }), end);
});

Deno.test("deltas belong to a reply that streams and to its blocks, which may grow side by side", () => {
  const at = indexOf(plainTurn, "message_update");
  const parts = [shown(1, "th"), shown(0, "No"), shown(1, "ing")];
  assertLegal(patched(plainTurn, at, { remove: 2, insert: parts }));
  assertBreaks("reply", patched(plainTurn, 2, { insert: [shown(0, "early")] }), 2);
  assertBreaks(
    "reply",
    patched(plainTurn, at + 1, { insert: [shown(0, "x", "thinking")] }),
    at + 1,
  );
  assertBreaks("reply", patched(plainTurn, at, { insert: [shown(0, "{", "call")] }), at);
  assertBreaks("reply", patched(plainTurn, at + 1, { insert: [calling(0)] }), at + 1);
});

Deno.test("deltas add up to the finished message", () => {
  const at = indexOf(plainTurn, "message_update");
  const end = indexOf(plainTurn, "message_end", 1);
  assertBreaks("reply", patched(plainTurn, at, { insert: [shown(0, "!")] }), end + 1);
  const call = indexOf(toolRun, "message_update", 3);
  assertBreaks("reply", patched(toolRun, call, { remove: 2 }));
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
  const at = indexOf(plainTurn, "message_update");
  assertLegal(patched(plainTurn, at, { insert: [retry(false)] }));
  assertLegal(patched(plainTurn, at, { insert: [shown(0, "Well"), calling(1), retry(true)] }));
  assertLegal(patched(plainTurn, at - 1, { insert: [retry(false)] }));
  assertBreaks(
    "reply",
    patched(plainTurn, at, { insert: [shown(0, "Well"), retry(false)] }),
    at + 1,
  );
  assertBreaks(
    "reply",
    patched(plainTurn, indexOf(plainTurn, "turn_end"), { insert: [retry(true)] }),
  );
});

Deno.test("a fallback model and a shrunken context start the reply again", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  const report = { droppedCount: 1, tokensBefore: 9, tokensAfter: 3 };
  const at = indexOf(plainTurn, "message_update");
  for (
    const event of [
      { type: "model_fallback", from: model, to: model },
      { type: "context_compacted", report },
    ] satisfies AgentEventBody[]
  ) {
    assertLegal(patched(plainTurn, 2, { insert: [event] }));
    assertLegal(patched(plainTurn, at, { insert: [shown(0, "Well"), event] }));
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
  const at = indexOf(toolRun, "tool_approval_requested");
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    patched(toolRun, at, { remove: 2, insert });
  assertLegal(swap([]));
  assertLegal(swap([ask("b"), answer("b")]));
  assertBreaks("approval", swap([ask("b"), answer("b"), ask("a"), answer("a")]), at + 2);
  assertBreaks("approval", swap([ask("a"), ask("b"), answer("a"), answer("b")]), at + 1);
  assertBreaks("approval", swap([ask("a")]), at + 1);
  assertBreaks("approval", swap([answer("a")]), at);
  assertBreaks("approval", swap([begun(callA), ask("b"), answer("b")]), at + 1);
  assertBreaks("tool", swap([ask("c")]), at);
});

Deno.test("refused calls begin and end first, the others begin in call order", () => {
  const from = indexOf(toolRun, "tool_execution_start");
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    patched(toolRun, from, { remove: 5, insert });
  assertLegal(swap([begun(callB), ended(callB), begun(callA), ended(callA)]));
  assertLegal(swap([begun(callA), ended(callA), begun(callB), ended(callB)]));
  assertBreaks("tool", swap([begun(callB), begun(callA), ended(callA), ended(callB)]), from + 1);
});

Deno.test("a call begins and ends once, under its own name, and is updated in between", () => {
  const from = indexOf(toolRun, "tool_execution_start");
  const end = indexOf(toolRun, "tool_execution_end", 1);
  const stranger = toolCall("read_file", {}, { id: "c" });
  const renamed = { ...callA, name: "write_file" };
  assertBreaks("tool", patched(toolRun, from, { insert: [begun(stranger)] }), from);
  assertBreaks("tool", patched(toolRun, from, { insert: [begun(renamed)] }), from);
  assertBreaks("tool", patched(toolRun, from, { insert: [ended(callA)] }), from);
  assertBreaks("tool", patched(toolRun, end, { remove: 1, insert: [ended(renamed)] }), end);
  const late: AgentEventBody = { type: "tool_execution_update", id: "a", update: "late" };
  assertBreaks("tool", patched(toolRun, end + 1, { insert: [late] }), end + 1);
  assertBreaks("tool", patched(plainTurn, 4, { insert: [begun(callA)] }), 4);
});

Deno.test("results come after all calls have ended, in call order, one for each", () => {
  const from = indexOf(toolRun, "tool_execution_end", 1) + 1;
  const [first, second] = results;
  assert(first && second);
  assertBreaks(
    "result",
    patched(toolRun, from, { remove: 4, insert: [...said(second), ...said(first)] }),
    from,
  );
  assertBreaks("result", patched(toolRun, from + 4, { insert: said(first) }), from + 4);
  assertBreaks("result", patched(toolRun, from, { remove: 2 }), from);
  assertBreaks("tool", patched(toolRun, from - 1, { insert: said(first) }), from - 1);
});

Deno.test("the ends sum up what was told", () => {
  const swap = (change: Partial<Extract<AgentEventBody, { type: "turn_end" }>>): AgentEvent[] => {
    const at = indexOf(toolRun, "turn_end");
    const event = { ...toolRun[at], ...change } as AgentEventBody;
    return patched(toolRun, at, { remove: 1, insert: [event] });
  };
  const at = indexOf(toolRun, "turn_end");
  assertBreaks("summary", swap({ toolResults: results.toReversed() }), at);
  assertBreaks("summary", swap({ toolResults: [] }), at);
  assertBreaks("summary", swap({ message: answering }), at);
  assertBreaks("summary", swap({ reason: "complete" }), at);
  assertBreaks("summary", swap({ reason: "error" }), at);
  assertBreaks("turn", swap({ turn: 2 }), at);
  const end = toolRun.length - 1;
  assertBreaks("summary", patched(toolRun, end, { remove: 1, insert: [agentEnd([user])] }), end);
});

Deno.test("ids of calls are unique and not empty", () => {
  for (const id of ["", "a"]) {
    const message = assistantMessage([callA, { ...callB, id }]);
    assertBreaks(
      "tool",
      numbered([...start, ...replied(message, [calling(0), calling(1, callB)])]),
    );
  }
});

Deno.test("checkEvents gives the events of a list and of a stream, or throws the first violation", async () => {
  const events = numbered(toolRun);
  assertEquals(await checkEvents(events), events);
  assertEquals(await checkEvents(ReadableStream.from(events)), events);
  const error = await assertRejects(() => checkEvents(events.slice(0, 5)), EventOrderError);
  assertEquals(error.message, "Event 5 (the end): the run has no agent_end");
  assertEquals(error.violation.rule, "run");
});

Deno.test("a checked stream passes events on and fails at the first illegal one", async () => {
  const legal = numbered(toolRun);
  assertEquals(await collectEvents(checkedStream(ReadableStream.from(legal))), legal);
  const seen: AgentEvent[] = [];
  const illegal = [...legal.slice(0, 4), ...legal.slice(5)];
  await assertRejects(
    async () => {
      for await (const event of checkedStream(ReadableStream.from(illegal))) seen.push(event);
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
      const event = numbered(toolRun)[pulled++];
      if (event) controller.enqueue(event);
    },
    cancel: (reason) => {
      cancelled = reason;
    },
  }, { highWaterMark: 0 });
  const reader = checkedStream(source).getReader();
  await reader.read();
  await reader.read();
  assertEquals(pulled, 2);
  await reader.cancel("enough");
  assertEquals(cancelled, "enough");
});

function isDeltaOf(event: AgentEventBody, type: string): boolean {
  return event.type === "message_update" && event.delta.type === type;
}
