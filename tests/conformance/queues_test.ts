import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { InvalidContinueError, NoMessagesError } from "../../src/core/errors/errors.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { checkEvents, findViolation } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineEvents, outlineMessages } from "./outline.ts";
import { settle } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

Deno.test("queued: lists messages with their ids; cancelQueued() removes one", () => {
  const { agent } = testAgent([]);
  const a = agent.steer("a");
  const b = agent.steer({ text: "b" });
  const c = agent.followUp("c");
  assertEquals([a.id, b.id, c.id], ["queued_1", "queued_2", "queued_3"]);
  assertEquals(a.message, { ...userMessage("a", 0), id: "message_1" });
  assertEquals(agent.queued, { steering: [a, b], followUp: [c] });
  assertEquals(agent.cancelQueued(a.id), true);
  assertEquals(agent.cancelQueued(a.id), false);
  assertEquals(agent.cancelQueued(c.id), true);
  assertEquals(agent.queued, { steering: [b], followUp: [] });
  assertEquals(agent.hasPendingMessages, true);
  agent.clearSteering();
  assertEquals(agent.hasPendingMessages, false);
});

Deno.test("queue_changed: is emitted on every change, also while idle", async () => {
  const { agent, seen } = testAgent([reply("Hello")]);
  const { id } = agent.steer("a");
  agent.followUp("b");
  agent.cancelQueued(id);
  agent.clearFollowUp();
  agent.clearQueues();
  const changes = eventsOfType(seen, "queue_changed").map((
    { queued: { steering, followUp }, seq },
  ) => [
    steering.length,
    followUp.length,
    seq,
  ]);
  assertEquals(changes, [[1, 0, undefined], [1, 1, undefined], [0, 1, undefined], [
    0,
    0,
    undefined,
  ]]);
  agent.steer("c");
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(0, 4), [
    "agent_start",
    "turn_start 1",
    "queue_changed",
    "message_start user",
  ]);
  assertEquals(findViolation(seen), undefined);
});

Deno.test("queue_changed: a change right after promptStream() is emitted after agent_start", async () => {
  const { agent, seen } = testAgent([reply("Hello"), reply("More")]);
  const stream = agent.promptStream("Hi");
  agent.followUp("And then?");
  agent.setModel("test/other");
  const events = await checkEvents(stream);
  assertEquals(outlineEvents(events).slice(0, 4), [
    "agent_start",
    "queue_changed",
    "model_changed",
    "turn_start 1",
  ]);
  assertEquals(seen, events);
});

Deno.test("queue_changed: a change at agent_end is emitted after the run, to subscribers only", async () => {
  const { agent, seen } = testAgent([reply("Hello")]);
  agent.subscribe((event) => void (event.type === "agent_end" && agent.followUp("Too late")));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(events.at(-1)?.type, "agent_end");
  assertEquals(outlineEvents(seen).slice(-2), ["agent_end", "queue_changed"]);
  assertEquals(seen.at(-1)?.seq, undefined);
  assertEquals(findViolation(seen), undefined);
  assertEquals(agent.queued.followUp.length, 1);
});

Deno.test("queue_changed: changes by listeners are emitted in order, also with a slow listener", async () => {
  const { agent, seen } = testAgent([reply("Hello")]);
  agent.subscribe(async ({ type }) => {
    if (type !== "message_start") return;
    await Promise.resolve();
    agent.followUp("slow");
  });
  agent.subscribe(({ type }) => {
    if (type !== "message_start") return;
    agent.followUp("a");
    agent.followUp("b");
    agent.clearQueues();
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  const counts = eventsOfType(events, "queue_changed").map(({ queued }) => queued.followUp.length);
  assertEquals(counts.slice(0, 4), [1, 2, 3, 0]);
  assertEquals(seen, events);
});

Deno.test("continue() rejects after a reply without calls whatever finished reason it has", async () => {
  for (const stopReason of ["stop", "tool_use"] as const) {
    const messages = [userMessage("Hi", 0), assistantMessage("Hello", { stopReason })];
    const { agent } = testAgent([], { messages });
    await assertRejects(() => agent.continue(), InvalidContinueError);
  }
});

Deno.test("continue() after a finished reply takes queued messages, steering first [A65, B9, B11]", async () => {
  const { agent } = testAgent([reply("Hello"), reply("1"), reply("2"), reply("3")]);
  await agent.prompt("Hi");
  await assertRejects(() => agent.continue(), InvalidContinueError);
  agent.followUp("follow");
  agent.steer("a");
  agent.steer("b");
  await checkEvents(agent.continueStream());
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "user: a",
    "assistant: 1",
    "user: b",
    "assistant: 2",
    "user: follow",
    "assistant: 3",
  ]);
});

Deno.test("continue() after a finished reply takes a follow-up when no steering is queued", async () => {
  const { agent } = testAgent([reply("Hello"), reply("1")]);
  await agent.prompt("Hi");
  agent.followUp("follow");
  await checkEvents(agent.continueStream());
  assertEquals(outlineMessages(agent.state.messages).slice(2), ["user: follow", "assistant: 1"]);
});

Deno.test("continue() after a failed run repeats the turn, and follow-ups stay queued [A13, B29]", async () => {
  const { agent } = testAgent([fail("stream_error", "Broken"), reply("Hello"), reply("More")]);
  agent.followUp("follow");
  assertEquals((await agent.prompt("Hi")).error?.code, "stream_error");
  assertEquals(agent.queued.followUp.length, 1);
  await checkEvents(agent.continueStream());
  assertEquals(outlineMessages(agent.state.messages), [
    "user: Hi",
    "assistant: Hello",
    "user: follow",
    "assistant: More",
  ]);
});

for (
  const [ending, steps] of [
    ["an error", [fail("stream_error", "Broken", { after: "Half" })]],
    ["an abort", [fail("aborted", "Gone", { after: "Half" })]],
    ["the token limit", [reply("Half", { stopReason: "length" })]],
  ] as const
) {
  Deno.test(`continue() works after a reply that ended with ${ending}`, async () => {
    const { agent } = testAgent([...steps, reply("Whole")]);
    await agent.prompt("Hi");
    await checkEvents(agent.continueStream());
    assertEquals(outlineMessages(agent.state.messages), [
      "user: Hi",
      "assistant: Half",
      "assistant: Whole",
    ]);
  });
}

Deno.test("continue() works after a tool result [A64]", async () => {
  const { agent } = testAgent([
    reply([toolCall("look")]),
    fail("stream_error", "Broken"),
    reply("Seen"),
  ], {
    tools: [fakeTool({ name: "look" })],
  });
  await agent.prompt("Look");
  const events = await checkEvents(agent.continueStream());
  assertEquals(outlineEvents(events).slice(0, 3), [
    "agent_start",
    "turn_start 1",
    "message_start assistant",
  ]);
});

Deno.test("prompt() and continue() reject when there is no message [4.17, A63, B61]", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")]);
  await assertRejects(() => agent.continue(), NoMessagesError);
  await assertRejects(() => agent.prompt([]), NoMessagesError);
  assertThrows(() => agent.steer([]), NoMessagesError);
  assertEquals(streamFn.calls, []);
  assertEquals(agent.state.isRunning, false);
  agent.steer("Now");
  await agent.prompt([]);
  assertEquals(outlineMessages(agent.state.messages), ["user: Now", "assistant: Hello"]);
});

Deno.test("prompt() rejects when repair leaves no message", async () => {
  const { agent } = testAgent([]);
  const orphan = {
    ...userMessage("?", 0),
    role: "tool_result",
    toolCallId: "a",
    toolName: "b",
    isError: false,
  } as const;
  await assertRejects(() => agent.prompt([orphan]), NoMessagesError);
  assertThrows(() => agent.followUp(orphan), NoMessagesError);
});

Deno.test("queue_changed: has the queues as they were, also when it is read later or a listener changes it", () => {
  const { agent, seen } = testAgent([]);
  agent.subscribe((event) => {
    const changed = event as { queued?: unknown };
    if (agent.queued.followUp.length === 2) changed.queued = [];
  });
  const queued = ["a", "b", "c"].map((words) => agent.followUp(words));
  agent.cancelQueued(queued[0]?.id ?? "");
  const lists = eventsOfType(seen, "queue_changed").map(({ queued }) => queued.followUp);
  assertEquals(lists.map((list) => list?.length), [1, undefined, 3, undefined]);
  assertEquals([lists[0], lists[2]], [queued.slice(0, 1), queued]);
  assertEquals(agent.queued.followUp, queued.slice(1));
});

Deno.test("queue_changed: caused by a listener of a delta, is emitted before the next delta", async () => {
  const { agent } = testAgent([reply("One two"), reply("More")]);
  atFirst(agent, "message_update", () => agent.steer("Wait"));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(outlineEvents(events).slice(4, 9), [
    "message_start assistant",
    "message_update text_delta",
    "queue_changed",
    "message_update text_delta",
    "message_end assistant",
  ]);
});

Deno.test("queue_changed: caused by a listener, awaits slow listeners before the next event", async () => {
  const { agent } = testAgent([reply("Hello"), reply("More")]);
  const order: string[] = [];
  atFirst(agent, "turn_start", () => {
    agent.followUp("a");
    agent.followUp("b");
  });
  agent.subscribe(async ({ type }) => {
    order.push(type);
    await settle();
    order.push(`${type} handled`);
  });
  await agent.prompt("Hi");
  assertEquals(order.slice(2, 10), [
    "turn_start",
    "turn_start handled",
    "queue_changed",
    "queue_changed handled",
    "queue_changed",
    "queue_changed handled",
    "message_start",
    "message_start handled",
  ]);
});

Deno.test("continue() rejects after a finished reply that a custom message follows", async () => {
  const { agent, streamFn } = testAgent([reply("Hello")]);
  await agent.prompt("Hi");
  agent.appendMessages([{ role: "custom", type: "note", data: {}, timestamp: 0 }]);
  await assertRejects(() => agent.continue(), InvalidContinueError);
  streamFn.assertDone();
});

Deno.test("steer() and followUp(): a message keeps its id, in the queue and in the history", async () => {
  const { agent } = testAgent([reply("One"), reply("Two")]);
  const later = agent.followUp({ ...userMessage("later", 0), id: "b" });
  const now = agent.steer({ ...userMessage("now", 0), id: "a" });
  assertEquals([now, later].map(({ message }) => message.id), ["a", "b"]);
  const { messages } = await agent.prompt("Hi");
  assertEquals(
    messages.flatMap((message) => message.role === "user" ? [message.id] : []),
    ["message_1", "a", "b"],
  );
});

for (const queue of ["steer", "followUp"] as const) {
  Deno.test(`${queue}(): returns the last of several messages, and hasPendingMessages counts them`, () => {
    const { agent } = testAgent([]);
    assertEquals(agent.hasPendingMessages, false);
    const { id } = agent[queue]([userMessage("First", 0), userMessage("Last", 0)]);
    assertEquals(agent.hasPendingMessages, true);
    const { steering, followUp } = agent.queued;
    assertEquals([...steering, ...followUp].map((queued) => queued.id === id), [false, true]);
  });
}

for (
  const [queue, stopReason] of [
    ["steer", "stop"],
    ["steer", "length"],
    ["followUp", "stop"],
    ["followUp", "length"],
  ] as const
) {
  Deno.test(`${queue}(): a message that is taken back before its turn starts no turn after a reply with the stop reason ${stopReason}`, async () => {
    const { agent, streamFn } = testAgent([reply("Hello", { stopReason }), reply("More")], {
      policies: [{
        name: "takes_back",
        preTurn: ({ turn }) => {
          if (turn === 1) agent.clearQueues();
          return undefined;
        },
      }],
    });
    atFirst(agent, "turn_end", () => agent[queue]("And then?"));
    const events = await checkEvents(agent.promptStream("Hi"));
    assertEquals(outlineEvents(events).slice(-4), [
      "turn_end complete",
      "queue_changed",
      "queue_changed",
      "agent_end",
    ]);
    assertEquals(outlineMessages(agent.state.messages), ["user: Hi", "assistant: Hello"]);
    assertEquals(streamFn.calls.length, 1);
  });
}

Deno.test("steer(): a message that is taken back before its turn leaves the turn to a follow-up", async () => {
  const { agent } = testAgent([reply("Hello"), reply("More")], {
    policies: [{
      name: "takes_back",
      preTurn: ({ turn }) => {
        if (turn === 1) agent.clearSteering();
        return undefined;
      },
    }],
  });
  agent.followUp("And then?");
  atFirst(agent, "turn_end", () => agent.steer("Wait"));
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "turn_start").map(({ turn }) => turn), [1, 2]);
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "user: And then?",
    "assistant: More",
  ]);
});

for (const stopReason of ["stop", "tool_use"] as const) {
  Deno.test(`continue(): a message that is taken back before the first turn starts no turn after a complete reply with the stop reason ${stopReason}`, async () => {
    const { agent, streamFn } = testAgent([reply("Hello", { stopReason })]);
    await agent.prompt("Hi");
    const { id } = agent.followUp("More");
    atFirst(agent, "agent_start", () => agent.cancelQueued(id));
    const events = await checkEvents(agent.continueStream());
    assertEquals(outlineEvents(events), ["agent_start", "queue_changed", "agent_end"]);
    assertEquals(streamFn.calls.length, 1);
  });
}

Deno.test("cancelQueued(): returns false while listeners handle the start of the turn that has taken the message", async () => {
  const { agent } = testAgent([reply("Hello"), reply("And more")]);
  await agent.prompt("Hi");
  const { id } = agent.followUp("More");
  let isCancelled: boolean | undefined;
  agent.subscribe(async ({ type }) => {
    if (type !== "turn_start") return;
    await Promise.resolve();
    isCancelled = agent.cancelQueued(id);
  });
  await checkEvents(agent.continueStream());
  assertEquals(isCancelled, false);
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "user: More",
    "assistant: And more",
  ]);
});

for (const queue of ["steer", "followUp"] as const) {
  Deno.test(`${queue}(): a reply with calls is delivered with its results`, async () => {
    const { agent, seen } = testAgent([reply("Hello"), reply("Done")]);
    const call = toolCall("look", {}, { id: "1" });
    agent[queue]([
      assistantMessage([call]),
      toolResultMessage(call, "A cat"),
      userMessage("So?", 0),
    ]);
    await agent.prompt("Hi");
    assertEquals(eventsOfType(seen, "warning"), []);
    const results = agent.state.messages.filter(({ role }) => role === "tool_result");
    assertEquals(outlineMessages(results), ["tool_result: A cat"]);
  });
}
