import { assertEquals, assertExists, assertRejects } from "@std/assert";
import {
  addSeq,
  assertBreaks,
  assertLegal,
  createAgentEnd,
  createDelta,
  createMessageEvents,
  createReplyEvents,
  finalReply,
  findEventIndex,
  plainRun,
  replaceEvents,
  results,
  runStart,
  toolRun,
  user,
} from "../../tests/testing/event_sequences.ts";
import type { AgentEvent, AgentEventBody, QueuedMessages } from "../core/event.ts";
import { userMessage } from "../core/message.ts";
import { collectEvents } from "./collect_events.ts";
import { checkEvents, checkStream, findViolation } from "./event_grammar.ts";
import { EventOrderError } from "./event_violation.ts";
import { assistantMessage } from "./messages.ts";

const queued: QueuedMessages = { steering: [], followUp: [] };

Deno.test("EventGrammar: accepts a run without tools and a run with two calls", () => {
  assertLegal(addSeq(plainRun));
  assertLegal(addSeq(toolRun));
});

Deno.test("EventGrammar: accepts several runs with idle events between them", () => {
  const model = { provider: "p", modelId: "m", thinkingLevel: "off" } as const;
  assertLegal([
    { type: "queue_changed", queued },
    ...addSeq(plainRun),
    { type: "model_changed", from: model, to: model },
    { type: "warning", code: "listener_failed", message: "A listener was removed" },
    ...addSeq(plainRun),
  ]);
});

Deno.test("EventGrammar: accepts idle events anywhere in a run", () => {
  const idle: AgentEventBody[] = [
    { type: "warning", code: "w", message: "w" },
    { type: "custom", name: "c", data: 1 },
    { type: "queue_changed", queued },
  ];
  for (let index = 1; index < toolRun.length; index++) {
    assertLegal(replaceEvents(toolRun, index, { insert: idle }));
  }
});

Deno.test("EventGrammar: accepts events that were serialized as JSON", () => {
  assertLegal(JSON.parse(JSON.stringify(addSeq(toolRun))));
});

Deno.test("EventGrammar: rejects a run from which any one event is removed, except optional deltas and updates", () => {
  toolRun.forEach((event, index) => {
    if (isOptional(event)) return;
    const violation = findViolation(replaceEvents(toolRun, index, { remove: 1 }));
    assertExists(violation, `accepted without event ${index}, ${event.type}`);
  });
});

Deno.test("EventGrammar: rejects a run in which any one event is repeated, except optional deltas and updates", () => {
  toolRun.forEach((event, index) => {
    if (isOptional(event)) return;
    const violation = findViolation(replaceEvents(toolRun, index, { insert: [event] }));
    assertExists(violation, `accepted a second event ${index}, ${event.type}`);
  });
});

Deno.test("EventGrammar: rejects a run that ends after any event but the last", () => {
  for (let length = 1; length < toolRun.length; length++) {
    assertBreaks("run", addSeq(toolRun.slice(0, length)), length);
  }
});

Deno.test("EventGrammar: requires seq to count from 1 within a run, and rejects it between runs", () => {
  const events = addSeq(plainRun);
  assertBreaks("number", events.map((event) => ({ ...event, seq: (event.seq ?? 0) - 1 })), 0);
  assertBreaks("number", events.toSpliced(5, 1), 5);
  assertBreaks("number", [{ type: "queue_changed", queued, seq: 1 }], 0);
});

Deno.test("EventGrammar: rejects events outside of a run, and overlapping runs", () => {
  assertBreaks("run", addSeq([{ type: "turn_start", turn: 1 }]), 0);
  assertBreaks("run", addSeq([...runStart, { type: "agent_start", runId: "r2" }]), 2);
  assertBreaks("run", [...addSeq(plainRun), { type: "turn_start", turn: 2, seq: 12 }]);
});

Deno.test("EventGrammar: requires turns to be numbered and to end before the run", () => {
  assertBreaks(
    "turn",
    addSeq([{ type: "agent_start", runId: "r" }, { type: "turn_start", turn: 2 }]),
    1,
  );
  assertBreaks("turn", addSeq([...runStart, { type: "turn_start", turn: 2 }]), 2);
  assertBreaks("turn", addSeq([...runStart, createAgentEnd([])]), 2);
  const end = findEventIndex(plainRun, "turn_end");
  assertBreaks("turn", replaceEvents(plainRun, end, { remove: 1 }), end);
});

Deno.test("EventGrammar: accepts a run without turns", () => {
  assertLegal(addSeq([{ type: "agent_start", runId: "r" }, createAgentEnd([])]));
});

Deno.test("EventGrammar: rejects a turn after one that failed or was aborted", () => {
  for (const reason of ["error", "aborted"] as const) {
    const failed = assistantMessage("Noth", { stopReason: reason });
    const events: AgentEventBody[] = [
      ...runStart,
      ...createMessageEvents(user),
      ...createReplyEvents(failed, [createDelta(0, "Noth")]),
      { type: "turn_end", turn: 1, message: failed, toolResults: [], reason },
    ];
    const end = createAgentEnd([user, failed], reason);
    assertLegal(addSeq([...events, end]));
    assertBreaks("turn", addSeq([...events, { type: "turn_start", turn: 2 }, end]), 8);
    assertBreaks("summary", addSeq([...events, createAgentEnd([user, failed])]), 8);
  }
});

Deno.test("EventGrammar: excludes an empty reply from the messages of the run", () => {
  const empty = assistantMessage([], { stopReason: "error" });
  const events: AgentEventBody[] = [
    ...runStart,
    ...createMessageEvents(user),
    ...createReplyEvents(empty, []),
    { type: "turn_end", turn: 1, message: empty, toolResults: [], reason: "error" },
  ];
  assertLegal(addSeq([...events, createAgentEnd([user], "error")]));
  assertBreaks("summary", addSeq([...events, createAgentEnd([user, empty], "error")]));
});

Deno.test("EventGrammar: requires a message to end unchanged before the next one starts", () => {
  const otherMessage = userMessage("other", 0);
  const index = findEventIndex(plainRun, "message_end");
  assertBreaks(
    "message",
    replaceEvents(plainRun, index, {
      remove: 1,
      insert: [{ type: "message_end", message: otherMessage }],
    }),
    index,
  );
  assertBreaks(
    "message",
    replaceEvents(plainRun, index, { insert: createMessageEvents(otherMessage) }),
    index,
  );
  assertBreaks(
    "message",
    replaceEvents(plainRun, index + 1, { insert: [{ type: "message_end", message: user }] }),
    index + 1,
  );
  const end = findEventIndex(plainRun, "turn_end");
  assertBreaks(
    "message",
    replaceEvents(plainRun, end, { insert: createMessageEvents(otherMessage) }),
    end,
  );
});

Deno.test("EventGrammar: requires turn_end and agent_end to repeat the preceding messages", () => {
  const swap = (change: Partial<Extract<AgentEventBody, { type: "turn_end" }>>): AgentEvent[] => {
    const index = findEventIndex(toolRun, "turn_end");
    const event = { ...toolRun[index], ...change } as AgentEventBody;
    return replaceEvents(toolRun, index, { remove: 1, insert: [event] });
  };
  const index = findEventIndex(toolRun, "turn_end");
  assertBreaks("summary", swap({ toolResults: results.toReversed() }), index);
  assertBreaks("summary", swap({ toolResults: [] }), index);
  assertBreaks("summary", swap({ message: finalReply }), index);
  assertBreaks("summary", swap({ reason: "complete" }), index);
  assertBreaks("summary", swap({ reason: "error" }), index);
  assertBreaks("turn", swap({ turn: 2 }), index);
  const end = toolRun.length - 1;
  assertBreaks(
    "summary",
    replaceEvents(toolRun, end, { remove: 1, insert: [createAgentEnd([user])] }),
    end,
  );
});

Deno.test("checkEvents() returns the events of a list or a stream, or throws at the first violation", async () => {
  const events = addSeq(toolRun);
  assertEquals(await checkEvents(events), events);
  assertEquals(await checkEvents(ReadableStream.from(events)), events);
  const error = await assertRejects(() => checkEvents(events.slice(0, 5)), EventOrderError);
  assertEquals(error.message, "Illegal event 5 (end of events): the run has no agent_end");
  assertEquals(error.violation.rule, "run");
});

Deno.test("checkStream() passes events through and errors at the first illegal one", async () => {
  const legal = addSeq(toolRun);
  assertEquals(await collectEvents(checkStream(ReadableStream.from(legal))), legal);
  const seen: AgentEvent[] = [];
  const illegal = [...legal.slice(0, 4), ...legal.slice(5)];
  await assertRejects(
    async () => {
      for await (const event of checkStream(ReadableStream.from(illegal))) seen.push(event);
    },
    EventOrderError,
    "Illegal event 4 (message_update): seq is 6, expected 5",
  );
  assertEquals(seen, legal.slice(0, 4));
});

Deno.test("checkStream() reads nothing ahead, and cancels its source", async () => {
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

/** Whether a run may lack or repeat the event. */
function isOptional(event: AgentEventBody): boolean {
  return event.type === "tool_execution_update" ||
    (event.type === "message_update" && event.delta.type === "tool_call_delta");
}
