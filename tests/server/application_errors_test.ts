import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../mod.ts";
import { BadRequestError, SessionError, StreamError } from "../../src/core/errors/errors.ts";
import { durableAgent, InProcessEngine } from "../../src/durable/mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { durableRunner } from "../../src/server/durable/mod.ts";
import { hang, ManualClock, reply, scriptedStream } from "../../src/testing/mod.ts";
import { waitUntil } from "../wait_until.ts";
import { TestServer } from "./server_fixture.ts";

const fail = () => {
  throw new BadRequestError("Unknown option of the agent");
};

Deno.test("server: an error of the application is not one of the caller, whatever its type is", async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const missing = new SessionError("There is no such session", { reason: "not_found" });
  for (const createAgent of [fail, () => Promise.reject(missing)]) {
    const test = new TestServer({ createAgent, onError });
    const id = await test.create();
    await assertInternal(test, "POST", `/v1/sessions/${id}/prompt`);
    await test.server.close();
  }
  const test = new TestServer({ limits: () => ({ concurrentRuns: -1 }), onError });
  await assertInternal(test, "POST", "/v1/sessions");
  await test.server.close();
  assertEquals(errors.map(String), [
    "BadRequestError: Unknown option of the agent",
    "SessionError: There is no such session",
    "BadRequestError: concurrentRuns must be a number of at least 0, not -1",
  ]);
});

Deno.test("server: an agent that serves another session is an error of the application", async () => {
  const errors: unknown[] = [];
  const agent = new Agent({ model: "any/model", streamFn: scriptedStream([hang()]) });
  const test = new TestServer({
    createAgent: () => agent,
    onError: (error) => errors.push(error),
  });
  const [first, second] = [await test.create(), await test.create()];
  await test.prompt(first);
  await assertInternal(test, "POST", `/v1/sessions/${second}/prompt`);
  assertEquals(errors.map(String), [
    "AlreadyRunningError: The agent is already running: wait for it, steer it or abort it",
  ]);
  await test.json(202, "POST", `/v1/sessions/${first}/abort`);
  await test.server.close();
});

Deno.test("server: the error of a function that cannot check a token is reported", async () => {
  const errors: unknown[] = [];
  const authenticate = () => Promise.reject(new Error("The database is down"));
  const test = new TestServer({ authenticate, onError: (error) => errors.push(error) });
  const { error } = await test.json(503, "GET", "/v1/sessions");
  assertEquals(error.code, "authentication_failed");
  assertEquals(errors.map(String), ["Error: The database is down"]);
  await test.server.close();
});

Deno.test("durableRunner(): an error of the application is not one of the caller", async () => {
  const errors: unknown[] = [];
  const store = new InMemorySessionStore();
  await using engine = new InProcessEngine({ store: new InMemorySessionStore(), pollMs: 10 });
  const runner = durableRunner({ engine, store, createAgent: fail });
  await engine.start();
  const test = new TestServer({ store, runner, onError: (error) => errors.push(error) });
  const id = await test.create();
  await assertInternal(test, "POST", `/v1/sessions/${id}/prompt`);
  await test.server.close();
  assertEquals(errors.map(String), [
    "StreamError: The workflow failed: Unknown option of the agent",
  ]);
});

Deno.test("durableRunner(): a disposal that does not end holds neither the run nor the engine", async () => {
  const store = new InMemorySessionStore();
  const clock = new ManualClock();
  const engine = new InProcessEngine({ store: new InMemorySessionStore(), pollMs: 10 });
  const runner = durableRunner({
    engine,
    store,
    clock,
    createAgent: (_session, steps) => ({
      agent: durableAgent(
        { model: "any/model", streamFn: scriptedStream([reply("Hello")]) },
        steps,
      ),
      [Symbol.asyncDispose]: () => new Promise<void>(() => {}),
    }),
  });
  await engine.start();
  const test = new TestServer({ store, runner });
  const id = await test.create();
  const { runId } = await test.json(202, "POST", `/v1/sessions/${id}/prompt`, {
    body: { text: "Hello" },
  });
  await waitUntil(() => clock.sleepers > 0);
  clock.advance(10_000);
  const ended = engine.getRun(runId).result();
  await assertRejects(() => ended, StreamError, "not disposed of within 10000 ms");
  await test.server.close();
  await engine.close();
});

async function assertInternal(test: TestServer, method: string, path: string): Promise<void> {
  const body = path.endsWith("/prompt") ? { text: "Hello" } : {};
  const { error } = await test.json(500, method, path, { body });
  assertEquals(error.code, "internal_error");
}
