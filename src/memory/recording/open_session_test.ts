import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { AlreadyRunningError, BadRequestError, SessionError } from "../../core/errors/errors.ts";
import { extractText } from "../../core/messages/content.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { SessionAccess, SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionEntryBody } from "../../core/sessions/session_entry.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { assistantMessage } from "../../testing/messages.ts";
import { hang, reply, type ScriptedStep } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { FileSessionStore } from "../file/file_store.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { openSession } from "./open_session.ts";
import { recordSession } from "./record_session.ts";
import { resumeSession } from "./resume.ts";

const usage = { input: 9, output: 1, cacheRead: 0, cacheWrite: 0, total: 10 };
const tools = [fakeTool({ name: "look" })];

function createAgent(steps: readonly ScriptedStep[], model = "any/model"): Agent {
  return new Agent({ model, tools, streamFn: scriptedStream(steps) });
}

function getTexts({ state }: Agent): readonly string[] {
  return state.messages.map((message) =>
    message.role === "custom" ? "" : extractText(message.content)
  );
}

Deno.test("openSession() creates a session, and resumes it the next time", async () => {
  const directory = await Deno.makeTempDir();
  const open = (agent: Agent) =>
    openSession(new FileSessionStore({ directory }), { id: "a" }, agent);
  {
    const agent = createAgent([reply("Hello!", { usage })]);
    await using session = await open(agent);
    assertEquals([session.id, session.resumed, session.isInterrupted], ["a", false, false]);
    await agent.prompt("Hi");
  }
  const agent = createAgent([reply("Bye!", { usage })], "any/other");
  const session = await open(agent);
  assertEquals([session.resumed, session.isInterrupted, session.missingTools], [true, false, []]);
  assertEquals(agent.state.model.modelId, "model");
  await agent.prompt("Goodbye");
  await session.close();
  const last = createAgent([]);
  await (await open(last)).close();
  assertEquals(getTexts(last), ["Hi", "Hello!", "Goodbye", "Bye!"]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("openSession() without an id creates a new session", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply("Hello!")]);
  const session = await openSession(store, { cwd: "/work" }, agent);
  await agent.prompt("Hi");
  await session.close();
  const [summary] = await store.list();
  assertEquals([summary?.id, summary?.cwd], [session.id, "/work"]);
});

Deno.test("openSession() reports an interrupted run [A147]", async () => {
  const store = new InMemorySessionStore();
  const created = await store.create({ id: "a" });
  created.append({
    type: "message",
    message: { role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 0 },
  });
  await created.close();
  const agent = createAgent([reply("Hello!")]);
  await using session = await openSession(store, { id: "a" }, agent);
  assert(session.isInterrupted);
  await agent.continue();
  assertEquals(getTexts(agent), ["Hi", "Hello!"]);
});

Deno.test("openSession() rejects for a session that is open, and for an invalid id", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply("Hello!")]);
  await using _session = await openSession(store, { id: "a" }, agent);
  await agent.prompt("Hi");
  for (const [id, reason] of [["a", "locked"], ["", "bad_id"]] as const) {
    const error = await assertRejects(
      () => openSession(store, { id }, createAgent([])),
      SessionError,
    );
    assertEquals(error.reason, reason);
  }
});

Deno.test("openSession() closes a session that cannot be restored into a running agent", async () => {
  const store = new InMemorySessionStore();
  const first = createAgent([reply("Hello!")]);
  const session = await openSession(store, { id: "a" }, first);
  await first.prompt("Hi");
  await session.close();
  const running = createAgent([hang()]);
  const run = running.prompt("Wait");
  await assertRejects(() => openSession(store, { id: "a" }, running), AlreadyRunningError);
  running.abort();
  await run;
  await (await openSession(store, { id: "a" }, createAgent([]))).close();
});

Deno.test("openSession() creates a session with its tenant, user and metadata", async () => {
  const store = new InMemorySessionStore();
  const about = { tenant: "acme", user: "amy@example.com", metadata: { plan: "pro" } };
  const agent = createAgent([reply("Hello!")]);
  await using session = await openSession(store, { id: "auth0|123", ...about }, agent);
  await agent.prompt("Hi");
  const [summary] = await store.list({ tenant: "acme" });
  assertEquals([summary?.id, summary?.user, summary?.metadata], [
    session.id,
    about.user,
    about.metadata,
  ]);
});

Deno.test("openSession() rejects a session of another tenant or user, and leaves the agent unchanged", async () => {
  const store = new InMemorySessionStore();
  const first = createAgent([reply("Noted.", { usage })]);
  const session = await openSession(store, { id: "a", tenant: "acme", user: "ann" }, first);
  await first.prompt("A secret");
  await session.close();
  for (const owner of [{ tenant: "zoo" }, { tenant: "acme", user: "ben" }]) {
    const agent = createAgent([]);
    const error = await assertRejects(
      () => openSession(store, { id: "a", ...owner }, agent),
      SessionError,
      "already exists: use another id",
    );
    assertEquals([error.reason, agent.state.messages.length], ["already_exists", 0]);
  }
  const agent = createAgent([]);
  await using open = await store.open("a");
  const zoo = () => openSession(store, { id: "a", tenant: "zoo" }, agent);
  const error = await assertRejects(zoo, SessionError);
  assertEquals([error.reason, error.owner], ["already_exists", undefined]);
  await open.close();
  const again = await openSession(store, { id: "a", tenant: "acme" }, agent);
  assertEquals([again.resumed, agent.state.messages.length], [true, 2]);
  await again.close();
});

Deno.test("openSession() locks no session of another tenant or user", async () => {
  const store = new InMemorySessionStore();
  await (await store.create({ id: "a", tenant: "acme", entries: [createTitle("e1")] })).close();
  const opened: unknown[] = [];
  const watched = watchOpen(store, (access) => opened.push(access));
  const open = () => openSession(watched, { id: "a", tenant: "zoo" }, createAgent([]));
  await assertRejects(open, SessionError, "already exists");
  assert(opened.every((access) => access === "read"), String(opened));
});

Deno.test("openSession() resumes a session that another process creates meanwhile", async () => {
  const store = new InMemorySessionStore();
  let isCreated = false;
  const late = watchOpen(store, async () => {
    if (isCreated) return;
    isCreated = true;
    await (await store.create({ id: "a", entries: [createTitle("e1")] })).close();
    throw new SessionError("The session does not exist", { reason: "not_found" });
  });
  await using session = await openSession(late, { id: "a" }, createAgent([]));
  assertEquals([session.resumed, session.session.outline.length], [true, 1]);
});

function createTitle(id: string): SessionEntry {
  return { type: "title", title: "T", id, parentId: null, timestamp: 1 };
}

/** Returns a store that calls a function before it opens a session. */
function watchOpen(
  store: SessionStore,
  onOpen: (access: SessionAccess | undefined) => unknown,
): SessionStore {
  return {
    create: (options) => store.create(options),
    list: (options) => store.list(options),
    search: (query, options) => store.search(query, options),
    delete: (id) => store.delete(id),
    deleteAll: (options) => store.deleteAll(options),
    open: async (id, options) => {
      await onOpen(options?.access);
      return await store.open(id, options);
    },
  };
}

Deno.test("openSession(), recordSession() and create() refuse options that are no object, and show how to write them", async () => {
  const store = new InMemorySessionStore();
  const calls: Readonly<Record<string, (options: object) => Promise<unknown>>> = {
    "openSession()": (options) => openSession(store, options, createAgent([])),
    "recordSession()": (options) => recordSession(createAgent([]), store, options),
    "create()": (options) => store.create(options),
  };
  for (const [name, call] of Object.entries(calls)) {
    for (const text of ['"ada"', '""', "null", "[]"]) {
      const error = await assertRejects(() => call(JSON.parse(text)), BadRequestError);
      const kind = text === "[]" ? "an array" : text;
      const expected =
        `The options of ${name} must be an object, such as { id: "ada" }, not ${kind}`;
      assertEquals(error.message, expected);
    }
  }
  assertEquals(await Array.fromAsync(await store.list()), []);
});

const note: AgentMessage = { role: "custom", type: "note", data: "of the host", timestamp: 2 };
const toEntry = (message: AgentMessage): SessionEntryBody => ({ type: "message", message });
const question = toEntry(userMessage("Go", 1));
const answer = toEntry(assistantMessage("Done"));
const approval: SessionEntryBody = {
  type: "approval",
  toolCallId: "call",
  name: "write",
  decision: { type: "approved" },
};
const started: SessionEntryBody = {
  type: "tool_started",
  messageId: null,
  toolCallId: "call",
  name: "look",
  arguments: {},
  sideEffect: "none",
  idempotencyKey: "key",
};
const cases: readonly [string, boolean, readonly SessionEntryBody[]][] = [
  ["a prompt", true, [question]],
  ["a custom message after a prompt", true, [question, toEntry(note)]],
  ["a custom message after a finished reply", false, [question, answer, toEntry(note)]],
  ["a custom message only", false, [toEntry(note)]],
  ["an approval after a finished reply", false, [question, answer, approval]],
  ["a call whose reply the log has lost", false, [question, answer, started]],
  ["a call whose messages the log has lost", false, [started]],
  [
    "a reply that stopped for tools without calling one",
    false,
    [question, toEntry(assistantMessage("Done", { stopReason: "tool_use" }))],
  ],
];
for (const [name, isInterrupted, bodies] of cases) {
  Deno.test(`openSession(): isInterrupted says whether continue() has work left after ${name}`, async () => {
    const store = new InMemorySessionStore();
    const created = await store.create({ id: "s" });
    for (const body of bodies) created.append(body);
    await created.close();
    const agent = new Agent({ model: "p/m", streamFn: scriptedStream([reply("Continued")]) });
    await using session = await openSession(store, { id: "s" }, agent);
    assertEquals(session.isInterrupted, isInterrupted);
    if (isInterrupted) assertEquals((await agent.continue()).text, "Continued");
    else await assertRejects(() => agent.continue());
  });
}

Deno.test("openSession() does not give a new session the conversation of another one", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply("Noted."), reply("Hello!"), reply("Again.")]);
  const open = (id?: string) => openSession(store, { id }, agent);
  const first = await open("ann");
  await agent.prompt("A secret");
  await first.close();
  for (const id of ["ben", undefined]) {
    await assertRejects(() => open(id), BadRequestError, 'conversation of the session "ann"');
  }
  assertEquals((await store.list()).map(({ id }) => id), ["ann"]);
  // The session of the conversation can be opened again, and the agent can begin another one.
  await (await open("ann")).close();
  agent.reset();
  const second = await open("ben");
  await agent.prompt("Hi");
  await second.close();
  await using third = await open("ann");
  assertEquals([third.resumed, getTexts(agent)], [true, ["A secret", "Noted."]]);
});

Deno.test("openSession() and into() refuse an agent that is recorded in another session, also one that is being opened", async () => {
  const store = new InMemorySessionStore();
  const old = await store.create({ id: "old" });
  old.append({ type: "title", title: "Old" });
  await old.close();
  const agent = createAgent([reply("Hello!")]);
  const open = (id?: string) => openSession(store, { id }, agent);
  const opening = open("ann");
  await assertRejects(() => open("ben"), BadRequestError, 'recorded in the session "ann"');
  const session = await opening;
  for (const id of ["old", undefined]) {
    await assertRejects(() => open(id), BadRequestError, 'recorded in the session "ann"');
  }
  const resumed = await resumeSession(store, "old");
  await assertRejects(() => resumed.into(agent), BadRequestError, 'recorded in the session "ann"');
  await agent.prompt("Hi");
  await session.close();
  await using _recording = await resumed.into(agent);
  assertEquals(agent.state.messages, []);
});

Deno.test("openSession() that fails leaves the agent free, and two stores may have the same session", async () => {
  const [store, copy] = [new InMemorySessionStore(), new InMemorySessionStore()];
  const locked = await store.create({ id: "a" });
  const agent = createAgent([reply("Hello!")]);
  await assertRejects(() => openSession(store, { id: "a" }, agent), SessionError, "open");
  await locked.close();
  await using _session = await openSession(store, { id: "b" }, agent);
  await using _copy = await openSession(copy, { id: "b" }, agent);
  await agent.prompt("Hi");
  assertEquals((await copy.list())[0]?.firstPrompt, "Hi");
});

Deno.test("openSession() does not take what an agent did after its session was closed for the conversation of it", async () => {
  const store = new InMemorySessionStore();
  const agent = createAgent([reply("Noted."), reply("Hello!"), reply("Again.")]);
  {
    await using session = await openSession(store, { id: "ann" }, agent);
    await agent.prompt("A secret");
    await session.close();
    agent.reset();
    await agent.prompt("Hi");
  } // closes it again
  await using session = await openSession(store, { id: "ben" }, agent);
  assertEquals(session.resumed, false);
});

Deno.test("openSession() never shares an agent with a session that is open, in any order of opening and closing", async () => {
  const [store, copy] = [new InMemorySessionStore(), new InMemorySessionStore()];
  const recordings: Readonly<Record<string, (agent: Agent) => Promise<unknown>>> = {
    "a new session that is being opened": (agent) => openSession(store, {}, agent),
    "a session that two further calls cannot open": async (agent) => {
      const open = () => openSession(store, { id: "open" }, agent);
      await open();
      await Promise.allSettled([open(), open()]);
    },
    "a session whose copy was closed": async (agent) => {
      await openSession(store, { id: "copied" }, agent);
      await (await openSession(copy, { id: "copied" }, agent)).close();
    },
    "a session of recordSession()": (agent) => recordSession(agent, store),
    "a session whose recording was not stopped": async (agent) => {
      const { session } = await openSession(store, {}, agent);
      await session.close();
    },
  };
  for (const [name, record] of Object.entries(recordings)) {
    const agent = createAgent([]);
    const opening = record(agent);
    if (!name.endsWith("is being opened")) await opening;
    const other = () => openSession(store, {}, agent);
    await assertRejects(other, BadRequestError, "recorded in", name);
    await opening;
  }
});
