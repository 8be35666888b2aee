import { assertEquals, assertExists, assertRejects } from "@std/assert";
import {
  addSeq,
  assertBreaks,
  assertLegal,
  callingReply,
  createAgentEnd,
  createAttempt,
  createDelta,
  createMessageEvents,
  createReplyEvents,
  finalReply,
  findEventIndex,
  model,
  networkError,
  pendingRun,
  plainRun,
  replaceEvents,
  results,
  resumedRun,
  runStart,
  toolRun,
  user,
} from "../../tests/testing/event_sequences.ts";
import type { AgentEvent, AgentEventBody, QueuedMessages } from "../core/events/event.ts";
import { type AgentMessage, userMessage } from "../core/messages/message.ts";
import { collectEvents } from "./collect_events.ts";
import { checkEvents, checkStream, findViolation } from "./event_grammar.ts";
import { EventOrderError } from "./event_violation.ts";

const queued: QueuedMessages = { steering: [], followUp: [] };

Deno.test("EventGrammar: accepts a run without tools and a run with two calls", () => {
  assertLegal(addSeq(plainRun));
  assertLegal(addSeq(toolRun));
});

Deno.test("EventGrammar: accepts a run that leaves approvals pending, and the run that resumes it", () => {
  assertLegal(addSeq(pendingRun));
  assertLegal(addSeq(resumedRun));
  assertLegal([...addSeq(pendingRun), { type: "queue_changed", queued }, ...addSeq(resumedRun)]);
});

Deno.test("EventGrammar: accepts several runs with idle events between them", () => {
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
  for (const run of [plainRun, toolRun, pendingRun, resumedRun]) {
    assertLegal(JSON.parse(JSON.stringify(addSeq(run))));
  }
});

for (const [name, run] of Object.entries({ toolRun, pendingRun, resumedRun })) {
  Deno.test(`EventGrammar: rejects ${name} if any one event is missing, except optional ones`, () => {
    run.forEach((event, index) => {
      // Without a decision the calls of an earlier run may have been interrupted.
      const isUndecided = run === resumedRun && event.type === "tool_approval_resolved";
      if (isOptional(event) || isUndecided) return;
      const violation = findViolation(replaceEvents(run, index, { remove: 1 }));
      assertExists(violation, `accepted without event ${index}, ${event.type}`);
    });
  });

  Deno.test(`EventGrammar: rejects ${name} if any one event is repeated, except optional ones`, () => {
    run.forEach((event, index) => {
      if (isOptional(event)) return;
      const violation = findViolation(replaceEvents(run, index, { insert: [event] }));
      assertExists(violation, `accepted a second event ${index}, ${event.type}`);
    });
  });

  Deno.test(`EventGrammar: rejects ${name} if it ends after any event but the last`, () => {
    for (let length = 1; length < run.length; length++) {
      assertBreaks("run", addSeq(run.slice(0, length)), length);
    }
  });
}

Deno.test("EventGrammar: requires seq to count from 1 within a run, and rejects it between runs", () => {
  const events = addSeq(plainRun);
  assertBreaks("number", events.map((event) => ({ ...event, seq: (event.seq ?? 0) - 1 })), 0);
  assertBreaks("number", events.toSpliced(5, 1), 5);
  assertBreaks("number", [{ type: "queue_changed", queued, seq: 1 }], 0);
});

Deno.test("EventGrammar: rejects events outside of a run, and overlapping runs", () => {
  assertBreaks("run", addSeq([{ type: "turn_start", turn: 1 }]), 0);
  assertBreaks("run", addSeq([...runStart, { type: "agent_start", runId: "r2" }]), 2);
  assertBreaks("run", [...addSeq(plainRun), { type: "turn_start", turn: 2, seq: 14 }]);
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
    const failed = { ...finalReply, stopReason: reason };
    const events: AgentEventBody[] = [
      ...runStart,
      ...createMessageEvents(user),
      ...createReplyEvents(
        failed,
        createAttempt([createDelta(0, "Nothing")], { error: networkError }),
      ),
      { type: "turn_end", turn: 1, message: failed, toolResults: [], reason },
    ];
    const end = createAgentEnd([user, failed], reason);
    assertLegal(addSeq([...events, end]));
    assertBreaks("turn", addSeq([...events, { type: "turn_start", turn: 2 }, end]), 10);
    assertBreaks("message", addSeq([...events, ...createMessageEvents(user), end]), 10);
    assertBreaks("summary", addSeq([...events, createAgentEnd([user, failed])]), 10);
  }
});

Deno.test("EventGrammar: requires agent_end to stop as the last turn did, unless a policy stopped its calls", () => {
  const stoppedBy = { policy: "budget", reason: "enough" };
  for (const reason of ["error", "aborted"] as const) {
    const failed = { ...finalReply, stopReason: reason };
    const attempt = createAttempt([createDelta(0, "Nothing")], { error: networkError });
    const events: AgentEventBody[] = [
      ...runStart,
      ...createMessageEvents(user),
      ...createReplyEvents(failed, attempt),
      { type: "turn_end", turn: 1, message: failed, toolResults: [], reason },
    ];
    for (const stopReason of ["stop", "error", "aborted"] as const) {
      const end = createAgentEnd([user, failed], stopReason);
      const isStopped = reason === "aborted" && stopReason !== "error";
      for (const [stop, isLegal] of [[{}, false], [{ stoppedBy }, isStopped]] as const) {
        const run = addSeq([...events, { ...end, ...stop }]);
        if (stopReason === reason || isLegal) assertLegal(run);
        else assertBreaks("summary", run, events.length);
      }
    }
  }
});

Deno.test("EventGrammar: excludes an empty reply from the messages of the run", () => {
  const empty = { ...finalReply, content: [], stopReason: "error" } as const;
  const events: AgentEventBody[] = [
    ...runStart,
    ...createMessageEvents(user),
    ...createReplyEvents(empty, []),
    { type: "turn_end", turn: 1, message: empty, toolResults: [], reason: "error" },
  ];
  assertLegal(addSeq([...events, createAgentEnd([user], "error")]));
  assertBreaks("summary", addSeq([...events, createAgentEnd([user, empty], "error")]));
});

Deno.test("EventGrammar: accepts the input of a turn that a policy refused, directly before agent_end", () => {
  const stoppedBy = { policy: "max_turns", reason: "enough" };
  const note: AgentMessage = {
    role: "custom",
    type: "note",
    data: 1,
    timestamp: 0,
    id: "message_9",
  };
  const start: AgentEventBody[] = [
    { type: "agent_start", runId: "r" },
    ...createMessageEvents(user),
    ...createMessageEvents(note),
  ];
  const end: AgentEventBody = { ...createAgentEnd([user, note]), stoppedBy };
  assertLegal(addSeq([...start, end]));
  const last = plainRun.length - 1;
  assertLegal(
    addSeq([
      ...plainRun.slice(0, last),
      ...createMessageEvents(note),
      { ...createAgentEnd([user, finalReply, note]), stoppedBy },
    ]),
  );
  assertBreaks("summary", addSeq([...start, createAgentEnd([user, note])]), 5);
  assertBreaks("summary", addSeq([...start, { ...createAgentEnd([user]), stoppedBy }]), 5);
  assertBreaks("turn", addSeq([...start, { type: "turn_start", turn: 1 }]), 5);
  assertBreaks("message", addSeq([...start.slice(0, 4), end]), 4);
  assertBreaks("message", addSeq([...start.slice(0, 4), ...createMessageEvents(user)]), 4);
  assertBreaks("message", addSeq([...start, { type: "message_end", message: note }]), 5);
});

Deno.test("EventGrammar: requires the messages of a run to have ids of their own", () => {
  const index = findEventIndex(plainRun, "message_end") + 1;
  for (const id of [undefined, "", user.id]) {
    const message = { ...userMessage("By the way", 0), ...(id !== undefined && { id }) };
    const events = replaceEvents(plainRun, index, { insert: createMessageEvents(message) });
    assertBreaks("message", events, index);
  }
  const reply = findEventIndex(plainRun, "message_end", 1);
  const renamed: AgentEventBody = {
    type: "message_end",
    message: { ...finalReply, id: "message_9" },
  };
  assertBreaks(
    "message",
    replaceEvents(plainRun, reply, { remove: 1, insert: [renamed] }),
    reply,
  );
});

Deno.test("EventGrammar: requires a message to end unchanged before the next one starts", () => {
  const otherMessage = { ...userMessage("other", 0), id: "message_9" };
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
  assertBreaks("approval", swap({ reason: "approval_pending" }), index);
  assertBreaks("turn", swap({ turn: 2 }), index);
  const end = toolRun.length - 1;
  const messages = [user, callingReply, ...results, finalReply];
  for (
    const event of [
      createAgentEnd([user]),
      createAgentEnd([...messages, { role: "custom", type: "n", data: 1, timestamp: 0 }]),
      { ...createAgentEnd(messages), error: networkError },
      { ...createAgentEnd(messages), pendingApprovals: [] },
    ]
  ) assertBreaks("summary", replaceEvents(toolRun, end, { remove: 1, insert: [event] }), end);
  const plainEnd = findEventIndex(plainRun, "turn_end");
  const failed = { ...plainRun[plainEnd], reason: "error" } as AgentEventBody;
  assertBreaks(
    "summary",
    replaceEvents(plainRun, plainEnd, { remove: 1, insert: [failed] }),
    plainEnd,
  );
});

Deno.test("EventGrammar: requires the run to end when approvals are pending, and agent_end to list them", () => {
  const end = pendingRun.length - 1;
  const pendingApprovals = [{ toolCallId: "a", name: "read_file", arguments: {} }];
  const swap = (insert: AgentEventBody[]): AgentEvent[] =>
    replaceEvents(pendingRun, end, { remove: 1, insert });
  const agentEnd = createAgentEnd([user, callingReply]);
  assertBreaks("summary", swap([agentEnd]), end);
  assertBreaks("summary", swap([{ ...agentEnd, pendingApprovals: [] }]), end);
  const extra = { toolCallId: "b", name: "read_file", arguments: {} };
  const tooMany = { ...agentEnd, pendingApprovals: [...pendingApprovals, extra] };
  assertBreaks("summary", swap([tooMany]), end);
  assertBreaks("turn", swap([{ type: "turn_start", turn: 2 }]), end);
});

Deno.test("EventGrammar: accepts a refused run that leaves the approvals of the previous run pending", () => {
  const stoppedBy = { policy: "max_turns", reason: "enough" };
  const refused = (toolCallId: string): AgentEvent[] =>
    addSeq([
      { type: "agent_start", runId: "r2" },
      {
        ...createAgentEnd([]),
        stoppedBy,
        pendingApprovals: [{ toolCallId, name: "read_file", arguments: {} }],
      },
    ]);
  assertLegal([...addSeq(pendingRun), ...refused("a"), ...addSeq(resumedRun)]);
  assertLegal(refused("b"));
  assertBreaks("summary", [...addSeq(pendingRun), ...refused("b")], pendingRun.length + 1);
});

Deno.test("EventGrammar: accepts a prompt that declines pending approvals", () => {
  const declined = results.map((result) => ({ ...result, isError: true }));
  const index = findEventIndex(plainRun, "message_start");
  const end: AgentEventBody = createAgentEnd([...declined, user, finalReply]);
  const run = addSeq([
    ...plainRun.slice(0, index),
    ...declined.flatMap(createMessageEvents),
    ...plainRun.slice(index, -1),
    end,
  ]);
  assertLegal([...addSeq(pendingRun), ...run]);
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
    "Illegal event 4 (model_call_start): seq is 6, expected 5",
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

Deno.test("EventGrammar: accepts events of sub-agents while their call runs", () => {
  const start = findEventIndex(toolRun, "tool_execution_start", 1);
  const end = findEventIndex(toolRun, "tool_execution_end", 1);
  const forward = (path: string[]): AgentEventBody => ({
    type: "sub_agent",
    path,
    event: { type: "agent_start", runId: "sub", seq: 1 },
  });
  for (let index = start; index <= end; index++) {
    assertLegal(replaceEvents(toolRun, index, { insert: [forward(["a"]), forward(["a", "c"])] }));
  }
  assertBreaks("tool", replaceEvents(toolRun, start - 1, { insert: [forward(["a"])] }), start - 1);
  assertBreaks("tool", replaceEvents(toolRun, start, { insert: [forward(["b"])] }), start);
  assertBreaks("tool", replaceEvents(toolRun, start, { insert: [forward([])] }), start);
  const last = toolRun.length - 2;
  assertLegal(replaceEvents(toolRun, last, { insert: [forward(["a"])] }));
  assertBreaks("run", [forward(["a"])], 0);
});

Deno.test("EventGrammar: with checksSubAgents, requires the events of each sub-agent to be legal", () => {
  const start = findEventIndex(toolRun, "tool_execution_start", 1);
  const forward = (events: readonly AgentEvent[], path: string[]): AgentEventBody[] =>
    events.map((event) => ({ type: "sub_agent", path, event }));
  const run = addSeq(plainRun);
  const nestedStart = findEventIndex(toolRun, "tool_execution_update");
  const nested = addSeq(toolRun);
  // The number of the nested agent's first event is missing from those of the agent that runs it.
  const shifted = nested.slice(nestedStart).map((event) => ({
    ...event,
    seq: (event.seq ?? 0) + 1,
  }));
  const legal: Record<string, AgentEventBody[]> = {
    "one run": forward(run, ["a"]),
    "two runs": [...forward(run, ["a"]), ...forward(run, ["a"])],
    "a run that the end of the call cuts off": forward(run.slice(0, 4), ["a"]),
    "a nested agent": [
      ...forward(nested.slice(0, nestedStart), ["a"]),
      ...forward(run.slice(0, 1), ["a", "b"]),
      ...forward(shifted, ["a"]),
    ],
  };
  const illegal: Record<string, AgentEventBody[]> = {
    "a run without its start": forward(run.slice(1), ["a"]),
    "a gap": forward(run.toSpliced(3, 1), ["a"]),
    "a nested agent of a call that does not run": [
      ...forward(run.slice(0, 2), ["a"]),
      ...forward(run.slice(0, 1), ["a", "b"]),
    ],
  };
  for (const [name, insert] of Object.entries(legal)) {
    const events = replaceEvents(toolRun, start, { insert });
    assertEquals(findViolation(events, { checksSubAgents: true }), undefined, name);
  }
  for (const [name, insert] of Object.entries(illegal)) {
    const events = replaceEvents(toolRun, start, { insert });
    assertExists(findViolation(events, { checksSubAgents: true }), name);
    assertEquals(findViolation(events), undefined, name);
  }
});

/** Whether a run may lack or repeat the event. */
function isOptional(event: AgentEventBody): boolean {
  return event.type === "tool_execution_update" ||
    (event.type === "message_update" && event.delta.type === "tool_call_delta");
}
