import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { testAgent } from "../../tests/conformance/test_agent.ts";
import type { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { exponentialBackoff } from "../core/hooks/retry.ts";
import { userMessage } from "../core/messages/message.ts";
import type { SessionActivity } from "../core/sessions/session_activity.ts";
import type { SessionEntry } from "../core/sessions/session_entry.ts";
import { defineTool } from "../core/tools/tool.ts";
import {
  fail,
  fakeTool,
  hang,
  reply,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../testing/mod.ts";
import {
  type Conversation,
  createConversation,
  readResponse,
  type SessionEvent,
  updateConversation,
} from "./mod.ts";

/** Freezes a value and all that it has, so that a later change of it throws. */
function freeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const property of Object.values(value)) freeze(property);
  return value;
}

/** Applies all events of an agent and calls `check` after each of them. */
function follow(
  agent: Agent,
  check: (conversation: Conversation, event: AgentEvent) => void = () => {},
): () => Conversation {
  let conversation = freeze(createConversation(structuredClone(agent.state.messages)));
  agent.subscribe((event) => {
    conversation = freeze(updateConversation(conversation, event));
    check(conversation, event);
  });
  return () => conversation;
}

/** A tool that reports two partial results. */
const count = defineTool({
  name: "count",
  description: "Counts.",
  parameters: { type: "object" },
  execute(_args, { onUpdate }) {
    onUpdate("one");
    onUpdate("two");
    return "three";
  },
});

Deno.test("updateConversation() has the messages and the reply so far of the agent after each event", async () => {
  const { agent } = testAgent(
    [
      fail("network_error", "Reset", { after: "Hel" }),
      reply([
        thinking("Two tools."),
        text("Looking."),
        toolCall("count"),
        toolCall("missing", { a: 1 }),
      ]),
      reply("Done."),
      reply(""),
    ],
    { tools: [count], retry: exponentialBackoff({ baseDelayMs: 0 }) },
  );
  const types = new Set<string>();
  const getConversation = follow(agent, (conversation, event) => {
    types.add(event.type);
    const { messages, streamingMessage, pendingToolCalls } = agent.state;
    assertEquals(conversation.messages, messages, event.type);
    assertEquals(conversation.streamingMessage, streamingMessage, event.type);
    assertEquals(conversation.runningCalls.map(({ id }) => id), [...pendingToolCalls], event.type);
    assertEquals(conversation.isRunning, event.type !== "agent_end");
  });
  await agent.prompt("Count");
  await agent.prompt("Say nothing");
  assert(["retry", "tool_execution_update", "message_update"].every((type) => types.has(type)));
  assertEquals(getConversation().messages.length, 6);
});

Deno.test("updateConversation() has the latest partial result of each running call", async () => {
  const { agent } = testAgent([reply([toolCall("count")]), reply("Done.")], { tools: [count] });
  const updates: unknown[] = [];
  follow(agent, ({ runningCalls }, { type }) => {
    if (type.startsWith("tool_execution")) updates.push(runningCalls.map(({ update }) => update));
  });
  await agent.prompt("Count");
  assertEquals(updates, [[undefined], ["one"], ["two"], []]);
});

Deno.test("updateConversation() has the approvals that a run waits for, and those that it ends with", async () => {
  const { agent } = testAgent(
    [reply([toolCall("keep"), toolCall("ask")]), reply("Done.")],
    {
      tools: [fakeTool({ name: "keep" }), fakeTool({ name: "ask" })],
      approve: ({ name }) => name === "keep" ? true : { type: "pending" },
    },
  );
  const waiting: string[][] = [];
  const getConversation = follow(agent, ({ pendingApprovals }, { type }) => {
    if (!/approval|^agent/.test(type)) return;
    waiting.push(pendingApprovals.map(({ name }) => name));
  });
  const { pendingApprovals = [] } = await agent.prompt("Ask");
  assertEquals(waiting, [[], ["keep"], [], ["ask"], ["ask"]]);
  assertEquals(getConversation().pendingApprovals, pendingApprovals);

  const approvals = Object.fromEntries(
    pendingApprovals.map(({ toolCallId }) => [toolCallId, true]),
  );
  await agent.continue({ approvals });
  assertEquals(getConversation().pendingApprovals, []);
  assertEquals(getConversation().messages, agent.state.messages);
});

Deno.test("updateConversation() has the queues, also while no run is active", () => {
  const { agent } = testAgent([]);
  const getConversation = follow(agent);
  agent.steer("Shorter");
  agent.followUp("And then?");
  assertEquals(getConversation().queued, agent.queued);
  assertEquals(getConversation().isRunning, false);
});

Deno.test("updateConversation() has the error and the policy of the last run alone", async () => {
  const { agent } = testAgent([
    fail("auth_error", "No key"),
    reply([toolCall("count")]),
    reply("Ok"),
  ], {
    tools: [count],
  });
  const getConversation = follow(agent);
  const { error } = await agent.prompt("One");
  assertEquals(getConversation().error, error);
  await agent.prompt("Two", { maxTurns: 1 });
  assertEquals([getConversation().error, getConversation().stoppedBy?.policy], [
    undefined,
    "max_turns",
  ]);
  await agent.continue();
  assertEquals(getConversation().stoppedBy, undefined);
});

Deno.test("updateConversation() ends the run when its stream fails, and keeps the reply so far until the next one", async () => {
  const { agent } = testAgent([hang({ after: "Hel" }), reply("Hello!")]);
  let conversation = createConversation();
  const stream = agent.promptStream("Greet me");
  for await (const event of stream) {
    conversation = updateConversation(conversation, event);
    if (event.type === "message_update") break;
  }
  await agent.waitForIdle();
  const failed = updateConversation(conversation, new TypeError("Connection lost"));
  assertEquals([conversation.isRunning, failed.isRunning], [true, false]);
  assertEquals(failed.error?.message, "Connection lost");
  assertEquals(failed.streamingMessage?.content, [{ type: "text", text: "Hel" }]);

  let next = failed;
  for await (const event of agent.promptStream("Again")) {
    next = updateConversation(next, event);
    if (event.type === "agent_start") assertEquals(next.streamingMessage, undefined);
  }
  assertEquals(next.error, undefined);
});

Deno.test("updateConversation() replaces a message that the page has appended itself", async () => {
  const message = { ...userMessage("Greet me"), id: "prompt_1" };
  const { agent } = testAgent([reply("Hello!")]);
  let conversation = createConversation([message]);
  for await (const event of agent.promptStream(message)) {
    conversation = updateConversation(conversation, event);
  }
  assertEquals(conversation.messages, agent.state.messages);
});

Deno.test("updateConversation() keeps the positions of blocks after one without deltas", () => {
  const { agent } = testAgent([]);
  const message = { role: "assistant" } as const;
  const events = [
    { type: "message_start", message: { ...message, content: [] } },
    { type: "message_update", delta: { type: "text_delta", contentIndex: 1, delta: "Found" } },
    { type: "message_update", delta: { type: "text_delta", contentIndex: 1, delta: " it" } },
  ];
  const conversation = (events as unknown as AgentEvent[])
    .reduce(updateConversation, createConversation(agent.state.messages));
  assertEquals(conversation.streamingMessage?.content, [
    { type: "text", text: "" },
    { type: "text", text: "Found it" },
  ]);
});

Deno.test("updateConversation() has a call once that another process starts again, and ends it with its result", () => {
  const start: AgentEvent = { type: "tool_execution_start", id: "a", name: "count", arguments: {} };
  const asked: AgentEvent = { ...start, type: "tool_approval_requested" };
  const conversation = [asked, asked, start, start].reduce(
    updateConversation,
    createConversation(),
  );
  assertEquals(conversation.runningCalls.map(({ id }) => id), ["a"]);
  assertEquals(conversation.pendingApprovals.map(({ toolCallId }) => toolCallId), ["a"]);
  const message = toolResultMessage({ id: "a", name: "count" }, "three");
  const ended = updateConversation(conversation, { type: "message_end", message });
  assertEquals(ended.runningCalls, []);
});

Deno.test("updateConversation() keeps the conversation when a newer server sends another event", () => {
  const conversation = createConversation();
  const event = { type: "weather" } as unknown as AgentEvent;
  assertStrictEquals(updateConversation(conversation, event), conversation);
});

Deno.test("updateConversation() returns the same object for events that change nothing", async () => {
  const { agent } = testAgent([reply("Hello!")]);
  let conversation = createConversation();
  for await (const event of agent.promptStream("Greet me")) {
    const next = updateConversation(conversation, event);
    if (/^turn_|^model_call_/.test(event.type)) assertStrictEquals(next, conversation);
    conversation = next;
  }
  const event: AgentEvent = { type: "custom", name: "progress", data: 1 };
  assertStrictEquals(updateConversation(conversation, event), conversation);
});

Deno.test("updateConversation() reads the events of a response", async () => {
  const { agent } = testAgent([reply([toolCall("count")]), reply("Done.")], { tools: [count] });
  let conversation = createConversation();
  for await (const event of readResponse(agent.promptStream("Count").toResponse())) {
    conversation = updateConversation(conversation, event);
  }
  assertEquals(conversation, {
    ...createConversation(agent.state.messages),
    error: undefined,
    stoppedBy: undefined,
    streamingMessage: undefined,
  });
});

Deno.test("updateConversation() ignores events and deltas of a later version", async () => {
  const { agent } = testAgent([reply("Hello")]);
  let conversation = createConversation();
  for await (const event of agent.promptStream("Hi")) {
    conversation = updateConversation(conversation, event);
    const later = { type: "later", seq: 0 } as unknown as AgentEvent;
    assertStrictEquals(updateConversation(conversation, later), conversation);
    if (event.type !== "message_update") continue;
    const delta = { type: "later_delta", contentIndex: 1, delta: "x" };
    const update = { ...event, delta } as unknown as AgentEvent;
    const content = updateConversation(conversation, update).streamingMessage?.content;
    assertEquals(content?.[0], conversation.streamingMessage?.content[0]);
    assert(content?.every((block) => typeof block.type === "string"));
  }
  assertEquals(conversation.messages.length, 2);
});

/** Creates an event with an entry that has a message of the same id. */
function createEntry(id: string, parentId: string | null): SessionEvent {
  const message = { ...userMessage(id), id };
  return { type: "entry", entry: { type: "message", id, parentId, timestamp: 0, message } };
}

Deno.test("updateConversation() keeps the history before the first entry when the session goes back", () => {
  const history = ["1", "2", "3"].map((id) => ({ ...userMessage(id), id }));
  const getIds = (conversation: Conversation, events: readonly SessionEvent[]) =>
    events.reduce(updateConversation, conversation).messages.map(({ id }) => id);
  const after = [createEntry("4", "3"), createEntry("5", "4"), createEntry("6", "4")];
  assertEquals(getIds(createConversation(history), after), ["1", "2", "3", "4", "6"]);
  const all = [createEntry("1", null), createEntry("2", "1"), createEntry("3", "2")];
  const saved = JSON.parse(JSON.stringify(all.reduce(updateConversation, createConversation())));
  assertEquals(getIds(saved, after), ["1", "2", "3", "4", "6"]);
  // The history has messages of the entries.
  const back = [createEntry("2", "1"), createEntry("3", "2"), createEntry("4", "1")];
  assertEquals(getIds(createConversation(history), back), ["1", "4"]);
});

Deno.test("updateConversation(): libraries can visit all properties of the conversation of a long session", () => {
  let conversation = createConversation();
  for (let index = 0; index < 10_000; index++) {
    const parentId = index === 0 ? null : `${index - 1}`;
    conversation = updateConversation(conversation, createEntry(`${index}`, parentId));
  }
  const seen = new Set<object>();
  // As Immer and the deep watchers of Vue do.
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    for (const name of Reflect.ownKeys(value)) visit((value as Record<PropertyKey, unknown>)[name]);
  };
  visit(conversation);
  assertEquals(seen.size, 10_000 * 3 + 7);
});

Deno.test("updateConversation() does not show the error of the last run when another one has begun", () => {
  const ended: SessionEvent = {
    type: "entry",
    entry: {
      type: "run_ended",
      id: "1",
      parentId: null,
      timestamp: 0,
      stopReason: "error",
      error: { code: "auth_error", message: "No key", retryable: false },
    },
  };
  const getError = (...statuses: SessionActivity["status"][]) =>
    [ended, ...statuses.map(createState)]
      .reduce(updateConversation, createConversation()).error?.message;
  assertEquals(getError("running"), undefined);
  assertEquals(getError("interrupted"), undefined);
  assertEquals(getError("idle"), "No key");
  // The run has an end, and its server still closes the session.
  assertEquals(getError("running", "idle"), "No key");
});

function createState(status: SessionActivity["status"]): SessionEvent {
  const queued = { steering: [], followUp: [] };
  return { type: "state", state: { status, pendingApprovals: [], queued } };
}

Deno.test("updateConversation() has the calls that run when a page joins, from the entries of the session", () => {
  let position = 1;
  const call = (type: "tool_started" | "tool_finished", toolCallId: string): SessionEvent => ({
    type: "entry",
    entry: {
      ...{
        type,
        toolCallId,
        name: "count",
        messageId: null,
        arguments: {},
        result: { content: [] },
      },
      ...{ sideEffect: "once", idempotencyKey: "", isError: false, timestamp: 0 },
      ...{ parentId: `${position}`, id: `${++position}` },
    } as SessionEntry,
  });
  const joined = [
    ...[createEntry("1", null), call("tool_started", "a"), call("tool_started", "b")],
    ...[call("tool_started", "c"), call("tool_finished", "b"), createState("running")],
  ].reduce(updateConversation, createConversation());
  const getIds = (events: readonly SessionEvent[]) =>
    events.reduce(updateConversation, joined).runningCalls.map(({ id }) => id);
  assertEquals(getIds([]), ["a", "c"]);
  assertEquals(getIds([call("tool_finished", "a")]), ["c"]);
  assertEquals(getIds([createEntry("branch", "1")]), []); // goes back to before the calls
  assertEquals(getIds([createState("interrupted")]), []);
});

Deno.test("updateConversation() continues a reply that a page joins after a block without deltas", async () => {
  const extension = { type: "extension", typeName: "test.item", data: 1 } as const;
  const { agent } = testAgent([reply([extension, text("Found it."), toolCall("look", { at: 1 })])]);
  const status = "running";
  let joined: Conversation | undefined;
  const getConversation = follow(agent, (conversation, event) => {
    if (joined) joined = updateConversation(joined, event);
    else if (event.type === "message_update") {
      const { streamingMessage, pendingApprovals } = agent.state;
      const { queued } = agent;
      joined = updateConversation(createConversation(), {
        type: "state",
        state: { status, pendingApprovals, queued, ...(streamingMessage && { streamingMessage }) },
      });
    }
    if (joined) assertEquals(joined.streamingMessage, conversation.streamingMessage);
  });
  await agent.prompt("Look", { maxTurns: 1 });
  assertEquals(getConversation().messages.length > 1, joined !== undefined);
});

Deno.test("updateConversation() has the messages of the session when a run ends that could not be persisted", () => {
  const lost = { type: "message_end", message: { ...userMessage("Lost"), id: "lost" } } as const;
  const getIds = (status: SessionActivity["status"], ...events: SessionEvent[]) =>
    [...events, lost, createState(status)]
      .reduce(updateConversation, createConversation()).messages.map(({ id }) => id);
  const entries = [createEntry("1", null), createEntry("2", "1"), createEntry("3", "1")];
  assertEquals(getIds("interrupted", ...entries), ["1", "3"]);
  assertEquals(getIds("idle", ...entries), ["1", "3"]);
  // A durable run persists them later.
  assertEquals(getIds("awaiting_approval", ...entries), ["1", "3", "lost"]);
  assertEquals(getIds("running", ...entries), ["1", "3", "lost"]);
  // A client that gets no entries.
  assertEquals(getIds("idle"), ["lost"]);
});

Deno.test("updateConversation() has the order of the entries when a page gets the events of later messages first", () => {
  const end = (id: string) =>
    ({ type: "message_end", message: { ...userMessage(id), id } }) as const;
  const events = [
    ...[createEntry("1", null), createState("running"), end("3"), end("4")],
    ...[createEntry("2", "1"), createEntry("3", "2"), createEntry("4", "3"), end("5")],
  ];
  let conversation = createConversation();
  const orders = events.map((event) => {
    conversation = updateConversation(conversation, event);
    return conversation.messages.map(({ id }) => id).join("");
  });
  assertEquals(orders, ["1", "1", "13", "134", "1234", "1234", "1234", "12345"]);
});
