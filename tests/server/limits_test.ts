import { assert, assertEquals, assertThrows } from "@std/assert";
import { BadRequestError, getErrorMessage } from "../../src/core/errors/errors.ts";
import { sharedBudget } from "../../src/policies/mod.ts";
import { hang, ManualClock, reply, scriptedStream } from "../../src/testing/mod.ts";
import { EventReader, ORIGIN, TestServer, TOKENS } from "./server_fixture.ts";

const BODY_TIMEOUT_MS = 25_000;

Deno.test("limits: a tenant has a number of concurrent runs, others have their own", async () => {
  const test = new TestServer({
    agent: { streamFn: scriptedStream(Array.from({ length: 5 }, () => hang())) },
    limits: ({ tenant }) => ({ concurrentRuns: tenant === "acme" ? 2 : 1 }),
  });
  const ids = [];
  for (let index = 0; index < 3; index++) ids.push(await test.create());
  await test.prompt(ids[0] ?? "");
  await test.prompt(ids[1] ?? "");
  const path = `/v1/sessions/${ids[2]}/prompt`;
  const response = await test.call("POST", path, { body: { text: "Hi" } });
  assertEquals([response.status, response.headers.get("retry-after")], [429, "1"]);
  assertEquals((await response.json()).error.code, "too_many_runs");
  const other = await test.create({}, TOKENS.zoo);
  await test.json(202, "POST", `/v1/sessions/${other}/prompt`, {
    body: { text: "Hi" },
    token: TOKENS.zoo,
  });
  await test.json(202, "POST", `/v1/sessions/${ids[0]}/abort`, { body: {} });
  await test.waitForIdle(ids[0] ?? "");
  await test.json(202, "POST", path, { body: { text: "Hi" } });
  await test.server.close({ timeoutMs: 0 });
});

Deno.test("limits: a function that returns a promise lifts no limit, and ends no process", async () => {
  const functions = [
    () => Promise.resolve({ sessions: 0 }),
    () => Promise.reject(new Error("no limits")),
  ];
  for (const limits of functions) {
    const errors: unknown[] = [];
    const test = new TestServer({
      limits: limits as never,
      onError: (error) => errors.push(getErrorMessage(error)),
    });
    await test.json(500, "POST", "/v1/sessions", { body: {} });
    assertEquals(errors, ["limits() returned a promise: it must return its value directly"]);
    await test.server.close();
  }
});

Deno.test("limits: a promise instead of an object is refused, and ends no process", () => {
  for (const limits of [Promise.resolve({ sessions: 0 }), Promise.reject(new Error("no limits"))]) {
    assertThrows(() => new TestServer({ limits: limits as never }), BadRequestError, "await it");
  }
});

Deno.test("limits: a run that cannot be started does not count", async () => {
  const test = new TestServer({
    limits: { concurrentRuns: 1 },
    agent: { streamFn: scriptedStream([reply("Hi")]) },
  });
  const id = await test.create();
  for (let attempt = 0; attempt < 3; attempt++) {
    await test.json(404, "POST", "/v1/sessions/missing/prompt", { body: { text: "Hi" } });
    await test.json(409, "POST", `/v1/sessions/${id}/continue`);
  }
  await test.prompt(id);
  await test.waitForIdle(id);
  await test.server.close();
});

Deno.test("limits: requests per minute, with the time until the next one", async () => {
  const clock = new ManualClock();
  const test = new TestServer({ clock, limits: { requestsPerMinute: 3 } });
  for (let request = 0; request < 3; request++) await test.json(200, "GET", "/v1/sessions");
  const { error } = await test.json(429, "GET", "/v1/sessions");
  assertEquals([error.code, error.retryAfterMs], ["too_many_requests", 20_000]);
  await test.json(200, "GET", "/v1/sessions", { token: TOKENS.zoo });
  await test.json(200, "GET", "/health");
  clock.advance(20_000);
  await test.json(200, "GET", "/v1/sessions");
  await test.json(429, "GET", "/v1/sessions");
  await test.server.close();
});

Deno.test("limits: sessions and event streams", async () => {
  const test = new TestServer({ limits: { sessions: 2, eventStreams: 1 } });
  const id = await test.create();
  await test.create();
  const { error } = await test.json(429, "POST", "/v1/sessions", { body: {} });
  assertEquals(error.code, "too_many_sessions");
  await test.json(204, "DELETE", `/v1/sessions/${id}`);
  const created = await test.create();
  const stream = await test.events(created);
  const second = await test.json(429, "GET", `/v1/sessions/${created}/events`);
  assertEquals(second.error.code, "too_many_streams");
  await stream.close();
  await (await test.events(created)).close();
  await test.json(404, "GET", "/v1/sessions/missing/events");
  await (await test.events(created)).close();
  await test.server.close();
});

Deno.test("limits: sessions that are created at the same moment", async () => {
  const test = new TestServer({ limits: { sessions: 2 } });
  const create = async (token: string) => {
    const response = await test.call("POST", "/v1/sessions", { body: {}, token });
    await response.body?.cancel();
    return response.status;
  };
  const tokens = [TOKENS.acme, TOKENS.acme, TOKENS.acme, TOKENS.acme, TOKENS.zoo];
  const statuses = await Promise.all(tokens.map(create));
  assertEquals(statuses.toSorted(), [201, 201, 201, 429, 429]);
  assertEquals(statuses[4], 201);
  assertEquals((await test.json(200, "GET", "/v1/sessions")).sessions.length, 2);
  await test.server.close();
});

Deno.test("limits: a budget of a tenant stops its runs", async () => {
  const usage = { input: 60, output: 0, cacheRead: 0, cacheWrite: 0, total: 60 };
  const budget = sharedBudget({ tokens: 100 });
  const replies = Array.from({ length: 3 }, () => reply("Hi", { usage }));
  const test = new TestServer({
    agent: { streamFn: scriptedStream(replies) },
    limits: { policies: [budget] },
  });
  const ends = [];
  for (let run = 0; run < 3; run++) {
    const id = await test.create();
    await test.prompt(id);
    await test.waitForIdle(id);
    const { entries } = await test.json(200, "GET", `/v1/sessions/${id}/entries?limit=200`);
    ends.push(entries.at(-1).stoppedBy?.policy);
  }
  assertEquals(ends.filter((policy) => policy !== undefined).length >= 1, true);
  assert(budget.spent.usage.total <= 120);
  await test.server.close();
});

Deno.test("limits: bodies that are too large, endless, slow, malformed or of another type are rejected", async () => {
  const clock = new ManualClock();
  const reported: unknown[] = [];
  const test = new TestServer({
    clock,
    limits: { maxBodyBytes: 1_000 },
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    onError: (error) => void reported.push(error),
  });
  const send = (body: BodyInit, headers: Record<string, string> = {}) =>
    test.server.fetch(
      new Request(`${ORIGIN}/v1/sessions`, {
        method: "POST",
        body,
        headers: {
          authorization: `Bearer ${TOKENS.acme}`,
          "content-type": "application/json",
          ...headers,
        },
        duplex: "half",
      } as RequestInit),
      { remoteAddr: { hostname: "127.0.0.1" } },
    );
  const getCode = async (response: Response) =>
    `${response.status} ${(await response.json()).error.code}`;
  let pulls = 0;
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      pulls++;
      controller.enqueue(new TextEncoder().encode(" ".repeat(100)));
    },
    cancel() {
      isCancelled = true;
    },
  });
  assertEquals(await getCode(await send(endless)), "413 body_too_large");
  assert(pulls < 20 && isCancelled);
  assertEquals(await getCode(await send(" ".repeat(1_001))), "413 body_too_large");
  clock.waits.splice(0);
  const slow = send(
    new ReadableStream({
      pull: (controller) => {
        controller.enqueue(new Uint8Array([32]));
        return clock.sleep(20_000);
      },
    }),
  );
  // The time to receive the body begins when the token was checked, which the clock must not end.
  while (!clock.waits.includes(BODY_TIMEOUT_MS)) {
    await new Promise((resolve) => setTimeout(resolve));
  }
  clock.advance(BODY_TIMEOUT_MS);
  assertEquals(await getCode(await slow), "408 body_timeout");
  assertEquals(await getCode(await send("{")), "400 bad_request");
  assertEquals(await getCode(await send(new Uint8Array([0xff, 0xfe]))), "400 bad_request");
  assertEquals(await getCode(await send("[]")), "400 bad_request");
  assertEquals(await getCode(await send("[".repeat(900))), "400 bad_request");
  assertEquals(await getCode(await send('{"__proto__":{"id":"x"}}')), "400 bad_request");
  const plain = await send("{}", { "content-type": "text/plain" });
  assertEquals(await getCode(plain), "415 unsupported_media_type");
  const untyped = await test.server.fetch(
    new Request(`${ORIGIN}/v1/sessions`, {
      method: "POST",
      body: new TextEncoder().encode("{}"),
      headers: { authorization: `Bearer ${TOKENS.acme}` },
    }),
    { remoteAddr: { hostname: "127.0.0.1" } },
  );
  assertEquals(await getCode(untyped), "415 unsupported_media_type");
  // Runtimes have different errors for a client that disconnects.
  for (const error of [new TypeError("Connection reset"), new Deno.errors.BadResource("Gone"), 1]) {
    const failing = new ReadableStream({ pull: (controller) => controller.error(error) });
    assertEquals(await getCode(await send(failing)), "400 bad_request");
  }
  assertEquals(reported, []);
  await test.server.close();
});

Deno.test("metrics: requests, runs and streams are counted, for callers with that right only", async () => {
  const test = new TestServer({ agent: { streamFn: scriptedStream([reply("Hi")]) } });
  const id = await test.create();
  await test.prompt(id);
  await test.waitForIdle(id);
  await test.json(404, "GET", '/v1/sessions/"}%20evil');
  await test.json(401, "GET", "/v1/evil", { token: "" });
  const stream = await test.events(id);
  await stream.next();
  const { error } = await test.json(403, "GET", "/metrics");
  assertEquals(error.code, "forbidden");
  const response = await test.call("GET", "/metrics", { token: TOKENS.operator });
  const text = await response.text();
  const lines = [
    'swink_http_requests_total{route="/v1/sessions/{id}/prompt",method="POST",status="202"} 1',
    'swink_http_requests_total{route="/v1/sessions/{id}",method="GET",status="404"} 1',
    'swink_http_requests_total{route="unknown",method="any",status="401"} 1',
    'swink_runs_ended_total{stop_reason="stop"} 1',
    "swink_runs_active 0",
    "swink_event_streams_active 1",
    'swink_http_errors_total{code="unauthorized"} 1',
  ];
  for (const line of lines) assert(text.split("\n").includes(line), `${line}\n${text}`);
  assert(!text.includes("evil") && !text.includes(id));
  for (const line of text.trim().split("\n")) {
    assert(/^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [\d.e+-]+)$/.test(line), line);
  }
  await stream.close();
  await test.server.close();
});

Deno.test("server: unread responses of streams are released when clients disconnect", async () => {
  const test = new TestServer({ limits: { eventStreams: 5 } });
  const id = await test.create();
  for (let index = 0; index < 20; index++) {
    const response = await test.call("GET", `/v1/sessions/${id}/events`);
    assertEquals(response.status, 200);
    await new EventReader(response).close();
  }
  await test.server.close();
});
