import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { AuthError, BadRequestError, StreamError } from "../core/errors/errors.ts";
import { followSession, type SessionEvent, type SessionRequest } from "./mod.ts";

const ENTRY = { type: "title", id: "a", parentId: null, timestamp: 1, title: "Ä 👋" };
const DELTA = {
  type: "message_update",
  delta: { type: "text_delta", contentIndex: 0, delta: "H" },
};
const STREAM = `retry: 2000\n\nid: 1\nevent: entry\ndata: ${
  JSON.stringify(ENTRY)
}\n\n: \n\nid: 2\nevent: message_update\ndata: ${
  JSON.stringify(DELTA)
}\n\nevent: reset\ndata: {}\n\n`;
const DELETED = 'event: end\ndata: {"reason":"session_deleted","retryMs":2000}\n\n';
const EVENTS = [{ type: "entry", entry: ENTRY }, DELTA, { type: "reset" }];

/** Creates a response with a body that arrives in these parts. */
function respond(...parts: (string | Uint8Array)[]): Response {
  const encoder = new TextEncoder();
  const bytes = parts.map((part) => typeof part === "string" ? encoder.encode(part) : part);
  return new Response(ReadableStream.from(bytes), {
    headers: { "content-type": "text/event-stream; charset=utf-8" },
  });
}

/** A server that answers each request with the next response, or rejects with the next error. */
function createServer(answers: readonly (Response | Error)[]) {
  const requests: SessionRequest[] = [];
  const waits: number[] = [];
  const connect = (request: SessionRequest): Promise<Response> => {
    const answer = answers[requests.length];
    requests.push(request);
    if (answer instanceof Response) return Promise.resolve(answer);
    return Promise.reject(answer ?? new Error("no more answers"));
  };
  const sleep = (milliseconds: number): Promise<void> => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  return { connect, sleep, requests, waits };
}

async function collect(events: AsyncIterable<SessionEvent>): Promise<SessionEvent[]> {
  const collected: SessionEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

Deno.test("followSession() reads events that are cut anywhere, and ends with the session", async () => {
  const bytes = new TextEncoder().encode(STREAM + DELETED);
  for (let offset = 0; offset <= bytes.length; offset++) {
    const { connect } = createServer([respond(bytes.slice(0, offset), bytes.slice(offset))]);
    assertEquals<unknown>(await collect(followSession(connect)), EVENTS, `${offset}`);
  }
});

Deno.test("followSession() reads texts with the line separators of Unicode", async () => {
  const entry = { ...ENTRY, title: "a\u2028b\u2029c\u0085d" };
  const event = `event: entry\ndata: ${JSON.stringify(entry)}\n\n`;
  const { connect } = createServer([respond(event + DELETED)]);
  assertEquals<unknown>(await collect(followSession(connect)), [{ type: "entry", entry }]);
});

Deno.test("followSession() reads lines that end with CR and LF", async () => {
  const { connect } = createServer([respond((STREAM + DELETED).replaceAll("\n", "\r\n"))]);
  assertEquals<unknown>(await collect(followSession(connect)), EVENTS);
});

Deno.test("followSession() connects again after the last event, and waits longer after each failure", async () => {
  const failure = new TypeError("Connection refused");
  const { connect, sleep, requests, waits } = createServer([
    respond(STREAM),
    failure,
    new Response("Too many", { status: 429 }),
    new Response("Starting", { status: 503 }),
    ...Array.from({ length: 4 }, () => failure),
    respond(`${STREAM}event: end\ndata: {"reason":"shutdown","retryMs":2000}\n\n`),
    respond(DELETED),
  ]);
  const events = await collect(followSession(connect, { after: "0", sleep }));
  assertEquals(
    requests.map(({ headers }) => headers["last-event-id"]),
    ["0", ...Array.from({ length: 9 }, () => "2")],
  );
  assertEquals(waits, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000, 500]);
  const disconnected = events.filter(({ type }) => type === "disconnected");
  assertEquals(disconnected[0], { type: "disconnected" });
  assertEquals(disconnected[1], { type: "disconnected", error: failure });
  assertEquals(disconnected.length, 9);
});

Deno.test("followSession() throws an error that another request would not change", async () => {
  const unauthorized = Response.json({ error: { code: "auth_error", message: "No token" } }, {
    status: 401,
  });
  const { connect, sleep } = createServer([respond(STREAM), unauthorized]);
  const error = await assertRejects(
    () => collect(followSession(connect, { sleep })),
    AuthError,
    "No token",
  );
  assertEquals(error.status, 401);
  const page = new Response("<html>", { headers: { "content-type": "text/html" } });
  await assertRejects(
    () => collect(followSession(createServer([page]).connect)),
    BadRequestError,
    "text/html",
  );
  await assertRejects(
    () => collect(followSession(createServer([respond("event: entry\ndata: {\n\n")]).connect)),
    StreamError,
    "malformed event: ",
  );
});

Deno.test("followSession() begins again when the server does not know the position, once", async () => {
  const unknown = () =>
    Response.json({ error: { code: "bad_request", message: "No position" } }, {
      status: 400,
    });
  const { connect, requests } = createServer([unknown(), respond(STREAM + DELETED)]);
  const events = await collect(followSession(connect, { after: "x" }));
  assertEquals<unknown>(events, [{ type: "reset" }, ...EVENTS]);
  assertEquals(requests.map(({ headers }) => headers["last-event-id"]), ["x", undefined]);
  await assertRejects(
    () => collect(followSession(createServer([unknown(), unknown()]).connect, { after: "x" })),
    BadRequestError,
    "No position",
  );
});

Deno.test("followSession() aborts the request and cancels its body when the loop is left", async () => {
  let isCancelled = false;
  let signal: AbortSignal | undefined;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(STREAM)),
    cancel: () => void (isCancelled = true),
  });
  const headers = { "content-type": "text/event-stream" };
  const connect = (request: SessionRequest) => {
    signal = request.signal;
    return Promise.resolve(new Response(body, { headers }));
  };
  for await (const _event of followSession(connect)) break;
  assert(isCancelled);
  assert(signal?.aborted);
});

Deno.test("followSession() ends when the signal is aborted: while it connects, reads or waits", async () => {
  const hang = ({ signal }: SessionRequest) =>
    new Promise<never>((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    );
  const reads = ({ signal }: SessionRequest) =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          start: (controller) =>
            signal.addEventListener("abort", () => controller.error(signal.reason), { once: true }),
        }),
        { headers: { "content-type": "text/event-stream" } },
      ),
    );
  for (const connect of [hang, reads]) {
    const controller = new AbortController();
    const events = collect(followSession(connect, { signal: controller.signal }));
    await new Promise((resolve) => setTimeout(resolve));
    controller.abort();
    assertEquals(await events, []);
  }
  const controller = new AbortController();
  const { connect } = createServer([new TypeError("Connection refused")]);
  for await (const { type } of followSession(connect, { signal: controller.signal })) {
    assertEquals(type, "disconnected");
    controller.abort();
  }
  assertEquals(await collect(followSession(connect, { signal: AbortSignal.abort() })), []);
});

Deno.test("followSession() ends with its signal, and closes the connection of a request without it", async () => {
  const stop = new AbortController();
  let isClosed = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(": \n\n")),
    cancel() {
      isClosed = true;
    },
  });
  const headers = { "content-type": "text/event-stream" };
  const { signal } = stop;
  const events = collect(
    followSession(() => Promise.resolve(new Response(body, { headers })), { signal }),
  );
  setTimeout(() => stop.abort());
  assertEquals(await events, []);
  assert(isClosed);
});

Deno.test("followSession() connects again when no data arrives for 30 seconds, but not while the loop takes its time", async () => {
  using time = new FakeTime();
  let pulls = 0;
  const connect = () => {
    const body = new ReadableStream({
      pull(controller) {
        // The second part never comes.
        if (pulls++ > 0) return new Promise<never>(() => {});
        controller.enqueue(new TextEncoder().encode(STREAM));
      },
    }, { highWaterMark: 0 });
    return Promise.resolve(
      new Response(body, { headers: { "content-type": "text/event-stream" } }),
    );
  };
  const events = followSession(connect);
  await events.next();
  await time.tickAsync(60_000);
  await events.next();
  await events.next();
  const disconnected = events.next();
  await time.tickAsync(29_999);
  assertEquals(await Promise.race([disconnected, Promise.resolve("connected")]), "connected");
  await time.tickAsync(1);
  const { value } = await disconnected;
  assert(value?.type === "disconnected");
  assertEquals(value.error?.message, "No data arrived for 30000 ms");
  await events.return();
  await assertRejects(() => followSession(connect, { idleMs: NaN }).next(), BadRequestError);
});

Deno.test("followSession() does not wait for a request that ignores the signal", async () => {
  using time = new FakeTime();
  let respondLate = (_response: Response): void => {};
  let isClosed = false;
  const connect = () => new Promise<Response>((resolve) => respondLate = resolve);
  const stop = new AbortController();
  const events = followSession(connect, { signal: stop.signal });
  const disconnected = events.next();
  await time.tickAsync(30_000);
  const { value } = await disconnected;
  assert(value?.type === "disconnected");
  assertEquals(value.error?.message, "No data arrived for 30000 ms");
  const body = new ReadableStream({ cancel: () => void (isClosed = true) });
  respondLate(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  const end = events.next();
  await time.tickAsync(500);
  assert(isClosed);
  stop.abort();
  assertEquals((await end).done, true);
});

Deno.test("followSession() yields no event after its signal was aborted, also of those that have arrived", async () => {
  const stop = new AbortController();
  const { connect } = createServer([respond(STREAM + DELETED)]);
  const types: string[] = [];
  for await (const { type } of followSession(connect, { signal: stop.signal })) {
    types.push(type);
    stop.abort(); // the page shows another session
  }
  assertEquals(types, ["entry"]);
});

/** Creates the response of a body that never ends. */
function hangResponse(status: number): Response {
  return new Response(new ReadableStream(), { status });
}

Deno.test("followSession() connects again when the body of an error does not arrive", async () => {
  using time = new FakeTime();
  const events = followSession(() => Promise.resolve(hangResponse(503)));
  const disconnected = events.next();
  await time.tickAsync(30_000);
  const { value } = await disconnected;
  assert(value?.type === "disconnected");
  assertEquals(value.error?.message, "No data arrived for 30000 ms");
  await events.return();
});

Deno.test("followSession() throws what a further connection would not change: no response, and malformed events", async () => {
  // Deeper than the stack of every engine.
  const depth = 200_000;
  const opened = '{"type":"sub_agent","path":[],"event":'.repeat(depth);
  const nested = `${opened}{"type":"warning"}${"}".repeat(depth)}`;
  const used = respond(STREAM);
  await used.text();
  const cases: readonly [Response, typeof BadRequestError | typeof StreamError][] = [
    [undefined as unknown as Response, BadRequestError],
    [used, BadRequestError],
    [respond("event: end\ndata: null\n\n"), StreamError],
    [respond(`event: sub_agent\ndata: ${nested}\n\n`), StreamError],
  ];
  for (const [response, type] of cases) {
    await assertRejects(() => collect(followSession(() => Promise.resolve(response))), type);
  }
});

Deno.test("followSession() reads a content type in any case", async () => {
  const headers = { "content-type": "Text/Event-Stream ; charset=utf-8" };
  const response = new Response(STREAM + DELETED, { headers });
  assertEquals<unknown>(await collect(followSession(() => Promise.resolve(response))), EVENTS);
});

Deno.test("followSession() ends when the session was deleted between two connections, unless a proxy says so", async () => {
  const sleep = () => Promise.resolve();
  const missing = () =>
    Response.json({ error: { code: "not_found", message: "It does not exist" } }, { status: 404 });
  const { connect } = createServer([respond(STREAM), missing()]);
  const events = await collect(followSession(connect, { sleep }));
  assertEquals(events.at(-1), { type: "disconnected" });
  const other = [new Response("Not found", { status: 404 })];
  for (const answers of [[respond(STREAM), ...other], [missing()]]) {
    await assertRejects(() => collect(followSession(createServer(answers).connect, { sleep })));
  }
});

Deno.test("followSession() ends with its signal when the application's timer rejects", async () => {
  const stop = new AbortController();
  const sleep = () => {
    stop.abort();
    return Promise.reject(new DOMException("Aborted", "AbortError"));
  };
  const { connect } = createServer([respond(STREAM)]);
  const events = await collect(followSession(connect, { sleep, signal: stop.signal }));
  assertEquals(events.at(-1), { type: "disconnected" });
});

Deno.test("followSession() closes the body of a request that ignores the signal, whenever the signal is aborted", async () => {
  for (let ticks = 0; ticks < 40; ticks++) {
    const stop = new AbortController();
    let isOpened = false;
    let isClosed = false;
    const connect = async () => {
      await null;
      isOpened = true;
      const body = new ReadableStream({ cancel: () => void (isClosed = true) });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    };
    const events = collect(followSession(connect, { signal: stop.signal }));
    for (let tick = 0; tick < ticks; tick++) await null;
    stop.abort();
    assertEquals(await events, []);
    for (let tick = 0; tick < 10; tick++) await null;
    assertEquals(isClosed, isOpened, `${ticks}`);
  }
});
