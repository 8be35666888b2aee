import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { createCounter, ORIGIN, TestServer, TOKENS } from "../../tests/server/server_fixture.ts";
import { Agent } from "../agent/agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { extractText } from "../core/messages/content.ts";
import { FileSessionStore, InMemorySessionStore, storeFrom } from "../memory/mod.ts";
import { createMemoryStorage } from "../memory/storage/memory_storage.ts";
import { fail, hang, ManualClock, reply, scriptedStream, toolCall } from "../testing/mod.ts";
import { createAgentServer } from "./create_agent_server.ts";

Deno.test("server: a session is created, prompted, described, listed and deleted", async () => {
  const streamFn = scriptedStream([reply("Hello there"), reply("Bye")]);
  const test = new TestServer({ agent: { streamFn } });
  const id = await test.create({ id: "greeting", title: "Greeting", metadata: { plan: "pro" } });
  assertEquals(id, "greeting");
  await test.prompt(id);
  await test.waitForIdle(id);
  await test.prompt(id, "Goodbye");
  await test.waitForIdle(id);

  const session = await test.json(200, "GET", `/v1/sessions/${id}`);
  assertEquals(session.status, "idle");
  assertEquals(session.title, "Greeting");
  assertEquals(session.metadata, { plan: "pro" });
  assertEquals(session.messages, 4);
  const { entries } = await test.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`);
  assertEquals(entries.length, session.entries);
  assertEquals(
    streamFn.calls[1]?.context.messages.map(({ role }) => role),
    ["user", "assistant", "user"],
  );

  const { sessions } = await test.json(200, "GET", "/v1/sessions");
  assertEquals(sessions.map(({ id, isRunning }: never) => [id, isRunning]), [[id, false]]);
  assertEquals(await test.json(204, "DELETE", `/v1/sessions/${id}`), undefined);
  await test.json(404, "GET", `/v1/sessions/${id}`);
  await test.json(404, "DELETE", `/v1/sessions/${id}`);
  await test.server.close();
});

Deno.test("server: a prompt that cannot be stored is not accepted", async () => {
  let isFull = false;
  const storage = createMemoryStorage();
  const append = storage.append.bind(storage);
  storage.append = (id, entries) =>
    isFull ? Promise.reject(new Error("out of space")) : append(id, entries);
  const store = storeFrom(storage);
  const test = new TestServer({ store, agent: { streamFn: scriptedStream([reply("Hello")]) } });
  const id = await test.create();
  isFull = true;
  const { error } = await test.json(503, "POST", `/v1/sessions/${id}/prompt`, {
    body: { text: "Hi" },
  });
  assertEquals(error.code, "storage_failed");
  isFull = false;
  await test.prompt(id);
  await test.waitForIdle(id);
  await test.server.close();
});

Deno.test("server: sessions and entries are listed in pages", async () => {
  const test = new TestServer();
  for (let index = 0; index < 5; index++) await test.create({ id: `s${index}` });
  const listed: string[] = [];
  let query = "?limit=2";
  for (let page = 0; page < 3; page++) {
    const { sessions, cursor } = await test.json(200, "GET", `/v1/sessions${query}`);
    listed.push(...sessions.map(({ id }: { id: string }) => id));
    query = `?limit=2&cursor=${encodeURIComponent(cursor)}`;
  }
  assertEquals(listed.toSorted(), ["s0", "s1", "s2", "s3", "s4"]);
  for (const invalid of ["limit=0", "limit=x", "limit=1e2", "limit=201", "cursor=x"]) {
    await test.json(400, "GET", `/v1/sessions?${invalid}`);
  }
  const first = await test.json(200, "GET", "/v1/sessions/s0/entries?limit=1");
  assertEquals([first.entries.length, first.next], [1, undefined]);
  await test.server.close();
});

Deno.test("server: metadata that is too long, reserved or nested too deep is refused", async () => {
  const test = new TestServer();
  const deep = JSON.parse(`${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`);
  for (
    const metadata of [
      { text: "x".repeat(70_000) },
      { subAgentParentId: "a", subAgentCallId: "b" },
      deep,
    ]
  ) {
    const { error } = await test.json(400, "POST", "/v1/sessions", { body: { metadata } });
    assertEquals(error.code, "bad_request");
  }
  assertEquals((await test.json(200, "GET", "/v1/sessions")).sessions, []);
  await test.server.close();
});

Deno.test("server: tenants have neither the sessions nor the ids of others", async () => {
  const test = new TestServer({ agent: { streamFn: scriptedStream([hang()]) } });
  const id = await test.create();
  await test.prompt(id);
  const token = TOKENS.zoo;
  const calls: [string, string, unknown?][] = [
    ["GET", ""],
    ["DELETE", ""],
    ["GET", "/entries"],
    ["GET", "/events"],
    ["GET", "/approvals"],
    ["POST", "/prompt", { text: "Hi" }],
    ["POST", "/steer", { text: "Hi" }],
    ["POST", "/follow_up", { text: "Hi" }],
    ["POST", "/continue", {}],
    ["POST", "/abort", {}],
    ["POST", "/approvals", { decisions: { a: { type: "denied" } } }],
  ];
  for (const [method, path, body] of calls) {
    const { error } = await test.json(404, method, `/v1/sessions/${id}${path}`, { token, body });
    const missing = await test.json(404, method, `/v1/sessions/missing${path}`, { token, body });
    assertEquals(error, missing.error, `${method} ${path} reveals that the session exists`);
  }
  assertEquals((await test.json(200, "GET", "/v1/sessions", { token })).sessions, []);
  assertEquals((await test.json(200, "GET", `/v1/sessions/${id}`)).status, "running");
  await test.server.close({ timeoutMs: 0 });
});

Deno.test("server: a second prompt during a run is refused, and a session cannot be deleted", async () => {
  const test = new TestServer({ agent: { streamFn: scriptedStream([hang()]) } });
  const id = await test.create();
  await test.prompt(id);
  const { error } = await test.json(409, "POST", `/v1/sessions/${id}/prompt`, {
    body: { text: "Again" },
  });
  assertEquals(error.code, "already_running");
  await test.json(409, "DELETE", `/v1/sessions/${id}`);
  assertEquals(await test.json(202, "POST", `/v1/sessions/${id}/abort`, { body: {} }), {
    aborted: true,
  });
  await test.waitForIdle(id);
  assertEquals(await test.json(202, "POST", `/v1/sessions/${id}/abort`), { aborted: false });
  await test.server.close();
});

Deno.test("server: messages are steered into a run, and follow it", async () => {
  const streamFn = scriptedStream([
    reply([toolCall("count", { what: "sheep" })]),
    reply("Steered"),
    reply("Followed"),
  ]);
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const tool = { ...createCounter([]), execute: () => held.then(() => "done") };
  const test = new TestServer({ agent: { streamFn, tools: [tool], interrupt: "after_batch" } });
  const id = await test.create();
  const { error } = await test.json(409, "POST", `/v1/sessions/${id}/steer`, {
    body: { text: "x" },
  });
  assertEquals(error.code, "not_running");
  await test.prompt(id);
  const events = await test.events(id);
  await events.until(({ type, data }) => type === "entry" && data.type === "tool_started");
  await test.json(202, "POST", `/v1/sessions/${id}/steer`, { body: { text: "Faster" } });
  await test.json(202, "POST", `/v1/sessions/${id}/follow_up`, { body: { text: "And then?" } });
  release();
  await events.close();
  await test.waitForIdle(id);
  const last = streamFn.calls.at(-1)?.context.messages ?? [];
  assertEquals(last.map(({ role }) => role), [
    "user",
    "assistant",
    "tool_result",
    "user",
    "assistant",
    "user",
  ]);
  await test.server.close();
});

Deno.test("server: approvals are answered later, also after a restart", async () => {
  const store = new InMemorySessionStore();
  const calls: string[] = [];
  const agent = () => ({
    streamFn: scriptedStream([
      reply([
        toolCall("count", { what: "sheep" }, { id: "a" }),
        toolCall("count", { what: "goats" }, { id: "b" }),
      ]),
    ]),
    tools: [createCounter(calls)],
    approve: () => ({ type: "pending" } as const),
  });
  const first = new TestServer({ store, agent: agent() });
  const id = await first.create();
  await first.json(409, "POST", `/v1/sessions/${id}/approvals`, {
    body: { decisions: { a: { type: "approved" } } },
  });
  await first.prompt(id);
  await first.waitForIdle(id);
  await first.server.close();

  const streamFn = scriptedStream([reply("Counted")]);
  const second = new TestServer({ store, agent: { ...agent(), streamFn } });
  assertEquals((await second.json(200, "GET", `/v1/sessions/${id}`)).status, "awaiting_approval");
  const { pendingApprovals } = await second.json(200, "GET", `/v1/sessions/${id}/approvals`);
  assertEquals(pendingApprovals.map(({ toolCallId }: never) => toolCallId), ["a", "b"]);
  const incomplete = await second.json(400, "POST", `/v1/sessions/${id}/approvals`, {
    body: { decisions: { a: { type: "approved" }, c: { type: "approved" } } },
  });
  assertMatch(incomplete.error.message, /: missing b; unknown c$/);
  const changed = await second.server.fetch(
    new Request(`${ORIGIN}/v1/sessions/${id}/approvals`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKENS.acme}`, "content-type": "application/json" },
      body: `{"decisions":{"a":{"type":"approved","arguments":{"what":1234567890123456789}}}}`,
    }),
    { remoteAddr: { hostname: "127.0.0.1" } },
  );
  assertEquals(changed.status, 400);
  assertMatch(await changed.text(), /more digits than a number keeps/);
  assertEquals(calls, []);
  await second.json(202, "POST", `/v1/sessions/${id}/approvals`, {
    body: {
      decisions: {
        a: { type: "approved", arguments: { what: "lambs" } },
        b: { type: "denied", reason: "no goats" },
      },
    },
  });
  await second.waitForIdle(id);
  assertEquals(calls, ["lambs"]);
  const { entries } = await second.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`);
  const decisions = entries.filter(({ type }: { type: string }) => type === "approval");
  assertEquals(decisions.map(({ decision }: never) => decision["origin"]), ["person", "person"]);
  await second.server.close();
});

Deno.test("server: a prompt with the same idempotency key starts one run, also after a restart", async () => {
  const store = new InMemorySessionStore();
  const streamFn = scriptedStream([reply("Once")]);
  const first = new TestServer({ store, agent: { streamFn } });
  const id = await first.create();
  const options = { body: { text: "Hello" }, headers: { "idempotency-key": "k1" } };
  const path = `/v1/sessions/${id}/prompt`;
  const responses = await Promise.all([
    first.call("POST", path, options),
    first.call("POST", path, options),
    first.call("POST", path, options),
  ]);
  assertEquals(responses.map(({ status }) => status).toSorted(), [200, 200, 202]);
  const bodies = await Promise.all(responses.map((response) => response.json()));
  assertEquals(new Set(bodies.map(({ messageId }) => messageId)).size, 1);
  await first.waitForIdle(id);
  await first.server.close();

  const second = new TestServer({ store });
  const repeated = await second.json(200, "POST", path, options);
  assertEquals(repeated.messageId, bodies[0].messageId);
  const events = await second.events(id, repeated.eventId);
  const [entry] = await events.until(() => true);
  assertEquals(entry?.data.message.content, [{ type: "text", text: "Hello" }]);
  await events.close();
  const other = await second.json(422, "POST", path, { ...options, body: { text: "Other" } });
  assertEquals(other.error.code, "idempotency_key_reused");
  await second.json(400, "POST", path, { ...options, headers: { "idempotency-key": "a b" } });
  assertEquals(streamFn.calls.length, 1);
  await second.server.close();
});

Deno.test("server: a run that was interrupted or failed is continued", async () => {
  const streamFn = scriptedStream([fail("bad_request", "No"), reply("Yes")]);
  const test = new TestServer({ agent: { streamFn } });
  const id = await test.create();
  const nothing = await test.json(409, "POST", `/v1/sessions/${id}/continue`);
  assertEquals(nothing.error.code, "not_continuable");
  await test.prompt(id);
  await test.waitForIdle(id);
  await test.json(202, "POST", `/v1/sessions/${id}/continue`);
  await test.waitForIdle(id);
  const complete = await test.json(409, "POST", `/v1/sessions/${id}/continue`);
  assertEquals(complete.error.code, "not_continuable");
  await test.server.close();
});

Deno.test("server: prompts are prepared or refused before they are stored, and the parts of a run are released", async () => {
  let disposed = 0;
  const streamFn = scriptedStream([reply("Hi")]);
  const test = new TestServer({
    createAgent: () => ({
      agent: new Agent({ model: "test/model", streamFn }),
      preparePrompt: (message) => {
        if (extractText(message.content) === "bad") throw new BadRequestError("No such prompts");
        const { id: _id, metadata: _metadata, ...rest } = message;
        return { ...rest, content: [{ type: "text", text: "prepared" }] };
      },
      [Symbol.asyncDispose]: () => {
        disposed++;
        return Promise.resolve();
      },
    }),
  });
  const id = await test.create();
  const path = `/v1/sessions/${id}/prompt`;
  const { error } = await test.json(400, "POST", path, { body: { text: "bad" } });
  assertEquals([error.message, disposed], ["No such prompts", 1]);
  assertEquals((await test.json(200, "GET", `/v1/sessions/${id}`)).messages, 0);
  const options = { body: { text: "good" }, headers: { "idempotency-key": "k" } };
  const { messageId } = await test.json(202, "POST", path, options);
  await test.waitForIdle(id);
  assertEquals((await test.json(200, "POST", path, options)).messageId, messageId);
  assertEquals(disposed, 2);
  const [message] = streamFn.calls[0]?.context.messages ?? [];
  assertEquals(message?.content, [{ type: "text", text: "prepared" }]);
  await test.server.close();
});

Deno.test("server: errors of the application are not sent, and reported", async () => {
  const failures = [
    () => throwError("The listener fails too"),
    () => Promise.reject(new Error("The listener fails too")),
  ];
  for (const fail of failures) {
    const errors: unknown[] = [];
    const test = new TestServer({
      createAgent: () => throwError("secret of the application"),
      onError: (error) => {
        errors.push(error);
        return fail();
      },
    });
    const id = await test.create();
    const { error } = await test.json(500, "POST", `/v1/sessions/${id}/prompt`, {
      body: { text: "Hi" },
    });
    assertEquals(error.code, "internal_error");
    assert(!JSON.stringify(error).includes("secret"));
    assertEquals(errors.map(String), ["Error: secret of the application"]);
    await test.server.close();
  }
});

Deno.test("server: closing waits for runs, rejects requests and ends streams with a reason", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const tool = { ...createCounter([]), execute: () => held.then(() => "done") };
  const streamFn = scriptedStream([reply([toolCall("count", { what: "x" })]), reply("Done")]);
  const test = new TestServer({ agent: { streamFn, tools: [tool] } });
  const id = await test.create();
  await test.prompt(id);
  const events = await test.events(id);
  await events.until(({ type, data }) => type === "entry" && data.type === "tool_started");
  const closing = test.server.close();
  const { error } = await test.json(503, "POST", "/v1/sessions", { body: {} });
  assertEquals(error.code, "shutting_down");
  assertEquals(await test.json(503, "GET", "/ready", { token: "" }), { status: "shutting_down" });
  await test.json(200, "GET", "/health", { token: "" });
  release();
  const rest = await events.until(() => false);
  assertEquals(rest.at(-1)?.type, "end");
  assertEquals(rest.at(-1)?.data.reason, "shutdown");
  assert(rest.some(({ type }) => type === "agent_end"));
  assertEquals(await closing, { ended: 1, handedOver: 0 });
});

Deno.test("server: a run that does not end in time is stopped and continued by the next process", async () => {
  const store = new InMemorySessionStore();
  const clock = new ManualClock();
  const first = new TestServer({ store, clock, agent: { streamFn: scriptedStream([hang()]) } });
  const id = await first.create();
  await first.prompt(id);
  const closing = first.server.close({ timeoutMs: 5_000 });
  clock.advance(5_000);
  assertEquals(await closing, { ended: 0, handedOver: 1 });

  const second = new TestServer({ store, agent: { streamFn: scriptedStream([reply("Done")]) } });
  assertEquals((await second.json(200, "GET", `/v1/sessions/${id}`)).status, "interrupted");
  await second.json(202, "POST", `/v1/sessions/${id}/continue`);
  await second.waitForIdle(id);
  assertEquals((await second.json(200, "GET", `/v1/sessions/${id}`)).status, "idle");
  await second.server.close();
});

Deno.test("server: a run that completes as it is stopped is not continued", async () => {
  const store = new InMemorySessionStore();
  const clock = new ManualClock();
  let closing: Promise<unknown> | undefined;
  const test: TestServer = new TestServer({
    store,
    clock,
    createAgent: () => {
      const streamFn = scriptedStream([reply("Done")]);
      const agent = new Agent({ model: "test/model", streamFn });
      agent.subscribe(async ({ type }) => {
        if (type !== "agent_end") return;
        closing = test.server.close({ timeoutMs: 0 });
        clock.advance(1);
        for (let tick = 0; tick < 20; tick++) await null;
      });
      return agent;
    },
  });
  const id = await test.create();
  await test.prompt(id);
  while (!closing) await new Promise((resolve) => setTimeout(resolve));
  await closing;
  const next = new TestServer({ store });
  assertEquals((await next.json(200, "GET", `/v1/sessions/${id}`)).status, "idle");
  await next.server.close();
});

Deno.test("server: a message that arrives as the run ends is answered", async () => {
  const streamFn = scriptedStream([reply("First"), reply("Second")]);
  let isSent = false;
  const test: TestServer = new TestServer({
    createAgent: ({ id }) => {
      const agent = new Agent({ model: "test/model", streamFn });
      agent.subscribe(async ({ type }) => {
        if (type !== "agent_end" || isSent) return;
        isSent = true;
        await test.json(202, "POST", `/v1/sessions/${id}/follow_up`, { body: { text: "And?" } });
      });
      return agent;
    },
  });
  const id = await test.create();
  await test.prompt(id);
  await test.waitForIdle(id);
  assertEquals(streamFn.calls.length, 2);
  assertEquals((await test.json(200, "GET", `/v1/sessions/${id}`)).queued.followUp, []);
  await test.server.close();
});

Deno.test("server: a prompt is accepted when it is persisted", async () => {
  const store = new InMemorySessionStore();
  let flushed = 0;
  const observed = new Proxy(store, {
    get: (target, name) => {
      if (name !== "open") return Reflect.get(target, name).bind(target);
      return async (...input: Parameters<typeof store.open>) => {
        const session = await target.open(...input);
        const { flush } = session;
        session.flush = async () => {
          const { length } = session.outline;
          await flush.call(session);
          flushed = Math.max(flushed, length);
        };
        return session;
      };
    },
  });
  const agent = { streamFn: scriptedStream([hang()]) };
  const test = new TestServer({ store: observed, agent });
  const id = await test.create();
  const { messageId } = await test.prompt(id);
  const { entries } = await test.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`);
  const position = entries.findIndex(({ message }: never) => message?.["id"] === messageId);
  assert(position >= 0 && flushed > position, `${flushed} ${position}`);
  await test.server.close({ timeoutMs: 0 });
});

Deno.test("server: a session that another process works in is busy", async () => {
  const directory = await Deno.makeTempDir();
  const options = { directory };
  const test = new TestServer({ store: new FileSessionStore(options) });
  const id = await test.create();
  const session = await new FileSessionStore(options).open(id);
  const { error } = await test.json(409, "POST", `/v1/sessions/${id}/prompt`, {
    body: { text: "Hi" },
  });
  assertEquals([error.code, error.retryAfterMs], ["session_busy", 1000]);
  await session.close();
  await test.server.close();
  await Deno.remove(directory, { recursive: true });
});

Deno.test("createAgentServer(): throws for options that are missing, unknown or invalid", async () => {
  const store = new InMemorySessionStore();
  const createAgent = () => Promise.reject(new Error("not used"));
  const cases: [object, string][] = [
    [{}, "Pass a store"],
    [{ store }, "createAgent must be a function"],
    [{ store, createAgent, runner: {} }, "either createAgent or runner"],
    [{ store, createAgent, authentication: 1 }, 'Unknown option "authentication"'],
    [{ store, createAgent, limits: { concurrentRun: 5 } }, "did you mean concurrentRuns?"],
    [{ store, createAgent, limits: { sessions: NaN } }, "sessions must be a number"],
    [{ store, createAgent, allowedOrigins: ["*"] }, "is no origin"],
    [{ store, createAgent, allowedHosts: "localhost" }, "list of strings"],
    [{ store, createAgent, pollMs: "2" }, "pollMs must be a number"],
  ];
  for (const [options, message] of cases) {
    assertThrows(() => createAgentServer(options as never), BadRequestError, message);
  }
  await assertRejects(createAgent);
});

function throwError(message: string): never {
  throw new Error(message);
}
