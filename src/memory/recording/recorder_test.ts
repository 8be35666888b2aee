import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { AlreadyRunningError, SessionError } from "../../core/errors/errors.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { Session } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionEntryType } from "../../core/sessions/session_entry.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { assistantMessage, text, toolCall } from "../../testing/messages.ts";
import { fail, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { compact } from "../context/compact.ts";
import { slidingWindow } from "../context/sliding_window.ts";
import { summarize } from "../context/summarize.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { openSession } from "./open_session.ts";
import { recordSession } from "./record_session.ts";

interface Fixture {
  readonly agent: Agent;
  readonly store: InMemorySessionStore;
}

function createFixture(
  steps: readonly ScriptedStep[],
  options: { tools?: readonly AgentTool[] } = {},
): Fixture {
  let id = 0;
  let messages = 0;
  const store = new InMemorySessionStore({ now: () => 5, newId: () => `e${++id}` });
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(steps),
    now: () => 7,
    newId: (kind) => kind === "message" ? `message_${++messages}` : `${kind}_1`,
    ...options,
  });
  return { agent, store };
}

/** Returns entries without their position, and messages as text. */
function getBodies(entries: readonly SessionEntry[]): unknown[] {
  return entries.map((entry) => {
    const { id: _id, parentId: _parentId, timestamp: _timestamp, ...body } = entry;
    return body.type === "message" ? formatMessage(body.message) : body;
  });
}

function formatMessage(message: AgentMessage): string {
  if (message.role === "custom") return `custom: ${message.type}`;
  const texts = message.content.map((block) =>
    block.type === "text" ? block.text : block.type === "tool_call" ? `${block.name}()` : block.type
  );
  return `${message.role}: ${texts.join(" ")}`;
}

async function readTypes(session: Session): Promise<SessionEntryType[]> {
  return (await session.path()).map(({ type }) => type);
}

function createTool(name: string, overrides: Partial<AgentTool> = {}): AgentTool {
  return {
    ...defineTool({
      name,
      description: name,
      parameters: { type: "object" },
      execute: () => `${name}!`,
    }),
    ...overrides,
  };
}

Deno.test("recordSession() records a run as entries in event order", async () => {
  const call = toolCall("write", { path: "a" }, { id: "call_1" });
  const { agent, store } = createFixture([reply([text("I write."), call]), reply("Done.")], {
    tools: [createTool("write"), createTool("read", { readOnly: true })],
  });
  await using recording = await recordSession(agent, store, { id: "s", cwd: "/work" });
  await agent.prompt("Write a");
  const path = await recording.session.path();
  assertEquals(getBodies(path), [
    { type: "model_changed", model: { provider: "p", modelId: "m", thinkingLevel: "off" } },
    {
      type: "tools_changed",
      names: ["write", "read"],
      tools: ["write", "read"].map((name) => ({
        name,
        description: name,
        parameters: { type: "object" },
      })),
    },
    "user: Write a",
    "assistant: I write. write()",
    {
      type: "tool_started",
      messageId: "e4",
      toolCallId: "call_1",
      name: "write",
      arguments: { path: "a" },
      sideEffect: "once",
      idempotencyKey: "run_1:call_1",
    },
    {
      type: "tool_finished",
      messageId: "e4",
      toolCallId: "call_1",
      name: "write",
      result: { content: [text("write!")] },
      isError: false,
    },
    "tool_result: write!",
    "assistant: Done.",
    { type: "run_ended", stopReason: "stop" },
  ]);
  const messages = path.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
  assertEquals(messages, agent.state.messages);
  assertEquals(recording.session.header.cwd, "/work");
});

Deno.test("recordSession() records the idempotency key that the tool receives", async () => {
  const keys: string[] = [];
  const execute: AgentTool["execute"] = (_args, { idempotencyKey }) => {
    keys.push(idempotencyKey);
    return Promise.resolve("ok");
  };
  const { agent, store } = createFixture([reply([toolCall("write")]), reply("Done.")], {
    tools: [createTool("write", { execute })],
  });
  await using recording = await recordSession(agent, store);
  await agent.prompt("Go");
  const [started] = await recording.session.path({ types: ["tool_started"] });
  assertEquals(keys, [started?.type === "tool_started" ? started.idempotencyKey : ""]);
});

Deno.test("recordSession() stores the start of a tool with side effects before the tool runs", async () => {
  const seen: unknown[] = [];
  const write = createTool("write", {
    execute: async () => {
      await using reader = await store.open("s", { access: "read" });
      const started = await reader.path({ types: ["tool_started"] });
      seen.push(started.map((entry) => "name" in entry && entry.name));
      return "ok";
    },
  });
  const { agent, store } = createFixture([reply([toolCall("write")]), reply("Done.")], {
    tools: [write],
  });
  await using _recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("Go");
  assertEquals(seen, [["write"]]);
});

Deno.test("recordSession() flushes the session at the end of every turn and of the run", async () => {
  const { agent, store } = createFixture([reply([toolCall("read")]), reply("Done.")], {
    tools: [createTool("read", { readOnly: true })],
  });
  const session = await store.create();
  const [append, flush] = [session.append.bind(session), session.flush.bind(session)];
  let unflushed = 0;
  session.append = (body) => {
    unflushed++;
    return append(body);
  };
  session.flush = async () => {
    await flush();
    unflushed = 0;
  };
  await using _recording = await recordSession(agent, store, { session });
  const seen: (readonly [string, number])[] = [];
  // Notified after the recording, whose promise the agent awaits.
  agent.subscribe(({ type }) => {
    if (type === "turn_end" || type === "agent_end") seen.push([type, unflushed]);
  });
  await agent.prompt("Go");
  assertEquals(seen, [["turn_end", 0], ["turn_end", 0], ["agent_end", 0]]);
});

Deno.test("recordSession() does not record a reply without content", async () => {
  const { agent, store } = createFixture([fail("auth_error", "no key")]);
  await using recording = await recordSession(agent, store);
  await agent.prompt("Hello");
  const path = await recording.session.path();
  assertEquals(getBodies(path).slice(2), ["user: Hello", {
    type: "run_ended",
    stopReason: "error",
    error: { code: "auth_error", message: "no key", retryable: false },
  }]);
});

Deno.test("recordSession() during a run records its beginning, and then its events", async () => {
  const record = async (type: "before" | AgentEvent["type"]) => {
    const call = toolCall("write", { path: "a" }, { id: "call_1" });
    const { agent, store } = createFixture([reply([text("I write."), call]), reply("Done.")], {
      tools: [createTool("write")],
    });
    let recording = type === "before" ? await recordSession(agent, store) : undefined;
    agent.subscribe(async (event) => {
      if (event.type === type) recording ??= await recordSession(agent, store);
    });
    await agent.prompt("Write a");
    const path = await recording?.session.path() ?? [];
    await recording?.stop();
    return getBodies(path).map((body) => JSON.stringify(body)).sort();
  };
  const complete = await record("before");
  for (const type of ["model_call_start", "message_update", "model_call_end"] as const) {
    assertEquals(await record(type), complete, type);
  }
  const { agent, store } = createFixture([reply("Done.")]);
  const errors: unknown[] = [];
  agent.subscribe(async ({ type }) => {
    if (type !== "model_call_start") return;
    const session = await store.create();
    session.flush = () => Promise.reject(new SessionError("full", { reason: "write_failed" }));
    await recordSession(agent, store, { session, onError: (error) => errors.push(error) });
  });
  const { stopReason } = await agent.prompt("Hello");
  assertEquals([stopReason, errors.map(String)], ["aborted", ["SessionError: full"]]);
});

Deno.test("recordSession() records the existing history with the first run", async () => {
  const { agent, store } = createFixture([reply("Hi.")]);
  agent.setMessages([userMessage("before", 1), assistantMessage("yes")]);
  agent.followUp("later");
  agent.setModel("p/other:high");
  await using recording = await recordSession(agent, store);
  assertEquals(await readTypes(recording.session), ["queue_changed"]);
  agent.clearQueues();
  await agent.prompt("now");
  assertEquals(getBodies(await recording.session.path({ types: ["message"] })), [
    "user: before",
    "assistant: yes",
    "user: now",
    "assistant: Hi.",
  ]);
});

Deno.test("recordSession() branches at the last common message when the history was replaced", async () => {
  const { agent, store } = createFixture([reply("one"), reply("two"), reply("three")]);
  await using recording = await recordSession(agent, store);
  await agent.prompt("first");
  await agent.prompt("second");
  agent.setMessages([...agent.state.messages.slice(0, 2), userMessage("other", 1)]);
  await agent.continue();
  const { session } = recording;
  assertEquals(getBodies(await session.path({ types: ["message"] })), [
    "user: first",
    "assistant: one",
    "user: other",
    "assistant: three",
  ]);
  const all = session.outline.filter(({ type }) => type === "message");
  assertEquals(all.length, 6);
  agent.clearMessages();
  assertEquals((await session.path({ types: ["message"] })).length, 4);
});

Deno.test("recordSession(): rewind() moves the leaf and the history, and keeps all entries", async () => {
  const { agent, store } = createFixture([reply("one"), reply("two"), reply("three")]);
  await using recording = await recordSession(agent, store);
  const { session } = recording;
  await agent.prompt("first");
  const firstLeaf = session.leafId;
  await agent.prompt("second");
  const secondLeaf = session.leafId;
  await recording.rewind(firstLeaf);
  assertEquals(agent.state.messages.map(formatMessage), ["user: first", "assistant: one"]);
  await agent.prompt("third");
  assertEquals(getBodies(await session.path({ types: ["message"] })), [
    "user: first",
    "assistant: one",
    "user: third",
    "assistant: three",
  ]);
  await recording.rewind(secondLeaf);
  assertEquals(agent.state.messages.map(formatMessage).at(-1), "assistant: two");
  await recording.rewind(null);
  assertEquals(agent.state.messages, []);
  const running = agent.prompt("fourth");
  await assertRejects(() => recording.rewind(null), AlreadyRunningError);
  await running;
});

Deno.test("recordSession() records each change of model, thinking level and tools once", async () => {
  const { agent, store } = createFixture([reply("one"), reply("two")], {
    tools: [createTool("write")],
  });
  await using recording = await recordSession(agent, store);
  await agent.prompt("first");
  agent.setThinkingLevel("high");
  agent.setThinkingLevel("high");
  agent.setTools([]);
  await agent.prompt("second");
  const changes = await recording.session.path({ types: ["model_changed", "tools_changed"] });
  assertEquals(getBodies(changes).slice(2), [
    { type: "model_changed", model: { provider: "p", modelId: "m", thinkingLevel: "high" } },
    { type: "tools_changed", names: [], tools: [] },
  ]);
});

Deno.test("recordSession() records a dequeued message as delivering until it is delivered", async () => {
  const { agent, store } = createFixture([reply("one"), reply("two")]);
  await using recording = await recordSession(agent, store);
  const queued = agent.followUp("later");
  await agent.prompt("now");
  const path = await recording.session.path({ types: ["queue_changed", "message"] });
  assertEquals(getBodies(path), [
    { type: "queue_changed", queued: { steering: [], followUp: [queued] } },
    "user: now",
    "assistant: one",
    {
      type: "queue_changed",
      queued: { steering: [], followUp: [] },
      delivering: { steering: [], followUp: [queued] },
    },
    "user: later",
    "assistant: two",
  ]);
});

Deno.test("recordSession() records approvals with the tool's name", async () => {
  const { store } = createFixture([]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply([toolCall("write", {}, { id: "c1" })]), reply("Done.")]),
    tools: [createTool("write")],
    approve: () => ({ type: "approved", scope: "tool" }),
  });
  await using recording = await recordSession(agent, store);
  await agent.prompt("Go");
  assertEquals(getBodies(await recording.session.path({ types: ["approval"] })), [
    {
      type: "approval",
      toolCallId: "c1",
      name: "write",
      decision: { type: "approved", scope: "tool" },
    },
  ]);
});

Deno.test("recordSession() records which entries a compaction omits, and rewind() undoes it", async () => {
  const transform = slidingWindow({ contextWindow: 1000, keepSteps: 1 });
  const { store } = createFixture([]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream(Array.from({ length: 5 }, () => reply("a".repeat(800)))),
    transformContext: transform,
  });
  await using recording = await recordSession(agent, store);
  const leaves: (string | null)[] = [];
  for (const word of ["one", "two", "three", "four"]) {
    await agent.prompt(word.padEnd(800, "."));
    leaves.push(recording.session.leafId);
  }
  const [entry] = await recording.session.path({ types: ["compaction"] });
  assert(entry?.type === "compaction");
  const dropped = await recording.session.entry(entry.firstDroppedId ?? "");
  assert(
    dropped?.type === "message" && formatMessage(dropped.message).startsWith("assistant: aaa"),
  );
  const { from, to } = transform.cut ?? { from: 0, to: 0 };
  assertEquals(agent.state.messages[from], dropped.message);
  assertEquals(to - from, entry.droppedCount);
  await recording.rewind(leaves[0] ?? null);
  assertEquals(transform.cut, undefined);
  await recording.rewind(leaves[3] ?? null);
  assertEquals([transform.cut?.from, transform.cut?.to], [from, to]);
});

Deno.test("compact() has recorded the compaction when it resolves, and the next request does not record it again", async () => {
  const transform = slidingWindow({ contextWindow: 2000, target: 0.1, keepSteps: 1 });
  const { store } = createFixture([]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("a".repeat(800)), reply("b".repeat(800)), reply("c")]),
    transformContext: transform,
  });
  await using _recording = await recordSession(agent, store, { id: "s" });
  for (const word of ["one", "two"]) await agent.prompt(word.padEnd(800, "."));
  const readCompactions = async () => {
    await using session = await store.open("s", { access: "read" });
    return await session.path({ types: ["compaction"] });
  };
  const report = await compact(agent, transform);
  const [entry] = await readCompactions();
  assertEquals(entry?.type === "compaction" && entry.droppedCount, report?.droppedCount);
  await agent.prompt("three");
  assertEquals((await readCompactions()).length, 1);
});

Deno.test("compact(): a summary whose tokens count outside of the run is recorded once, with its tokens", async () => {
  const usage = { input: 70, output: 30, cacheRead: 0, cacheWrite: 0, total: 100 };
  const transform = summarize({
    streamFn: scriptedStream([reply("s", { usage })]),
    contextWindow: 2000,
    target: 0.1,
    keepSteps: 1,
    maxSummaryTokens: 20,
  });
  const { store } = createFixture([]);
  const agent = new Agent({
    model: "p/m",
    streamFn: scriptedStream([reply("a".repeat(800)), reply("b".repeat(800)), reply("c")]),
    transformContext: transform,
  });
  await using recording = await recordSession(agent, store, { id: "s" });
  for (const word of ["one", "two"]) await agent.prompt(word.padEnd(800, "."));
  await compact(agent, transform);
  await agent.prompt("three");
  const entries = await recording.session.path({ types: ["compaction"] });
  assertEquals(entries.map((entry) => entry.type === "compaction" && entry.usage), [usage]);
});

Deno.test("recordSession() aborts the run before a tool runs when the session cannot be written, and records it later", async () => {
  const ran: string[] = [];
  const execute = () => {
    ran.push("write");
    return Promise.resolve("ok");
  };
  const steps = [reply([toolCall("write")]), reply([toolCall("write")]), reply("Done.")];
  const { agent, store } = createFixture(steps, { tools: [createTool("write", { execute })] });
  const session = await store.create({ id: "s" });
  const errors: SessionError[] = [];
  await using recording = await recordSession(agent, store, {
    session,
    onError: (error) => errors.push(error),
  });
  const flush = session.flush.bind(session);
  const diskFull = new SessionError("Cannot write: the disk is full", { reason: "write_failed" });
  const disk = { isFull: false };
  session.flush = () => disk.isFull ? Promise.reject(diskFull) : flush();
  agent.subscribe((event) => {
    if (event.type === "message_end" && event.message.role === "assistant") disk.isFull = true;
  });
  const result = await agent.prompt("Go");
  assertEquals([result.stopReason, result.abortReason, ran], ["aborted", diskFull, []]);
  assertEquals(errors, [diskFull]);

  // While the disk is full, a run makes no model call.
  const aborted = await agent.continue();
  assertEquals([aborted.stopReason, aborted.turns], ["aborted", 1]);
  disk.isFull = false;
  session.flush = flush;
  const done = await agent.continue();
  assertEquals([done.stopReason, ran], ["stop", ["write"]]);
  const path = await recording.session.path({ types: ["message"] });
  const messages = path.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
  assertEquals(messages, agent.state.messages);
});

for (const isAsync of [false, true]) {
  Deno.test(`recordSession(): the next run is recorded when onError ${isAsync ? "rejects" : "throws"}`, async () => {
    const { agent, store } = createFixture([reply("one"), reply("two")]);
    const session = await store.create({ id: "s" });
    const failure = new Error("a defect of the application");
    await using recording = await recordSession(agent, store, {
      session,
      onError: () => {
        if (isAsync) return Promise.reject(failure);
        throw failure;
      },
    });
    const flush = session.flush.bind(session);
    session.flush = () => Promise.reject(new SessionError("no disk", { reason: "write_failed" }));
    assertEquals((await agent.prompt("first")).stopReason, "aborted");
    session.flush = flush;
    assertEquals((await agent.prompt("second")).stopReason, "stop");
    const path = await recording.session.path({ types: ["message"] });
    const messages = path.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
    assertEquals(messages, agent.state.messages);
  });
}

Deno.test("recordSession(): a session that it has created is not locked when the recording fails to start", async () => {
  const { store } = createFixture([]);
  const noAgent = {} as unknown as Agent;
  await assertRejects(() => recordSession(noAgent, store, { id: "s" }));
  await assertRejects(() => openSession(store, { id: "s" }, noAgent));
  await using _session = await store.create({ id: "s" });
});

Deno.test("recordSession(): stop() ends the recording", async () => {
  const { agent, store } = createFixture([reply("one"), reply("two")]);
  const recording = await recordSession(agent, store, { id: "s" });
  await agent.prompt("first");
  await recording.stop();
  await agent.prompt("second");
  await using session = await store.open("s");
  assertEquals((await session.path({ types: ["message"] })).length, 2);
});
