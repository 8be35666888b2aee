import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { defineTool, type StreamFn } from "../../mod.ts";
import { FileSessionStore, InMemorySessionStore } from "../../src/memory/mod.ts";
import { hang, ManualClock, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";
import { type EventReader, type ServerEvent, TestServer } from "./server_fixture.ts";

const tool = defineTool({
  name: "work",
  description: "Works.",
  parameters: { type: "object" },
  sideEffect: "idempotent",
  execute: () => "worked",
});

function createScript(): StreamFn {
  return scriptedStream([
    reply([toolCall("work", {}), toolCall("work", {})]),
    reply("The first answer, which has several parts, so that it is streamed as such."),
    reply([toolCall("work", {})]),
    reply("The second answer."),
  ]);
}

/** Whether an event shows that the session is idle after `runs` runs. */
function createEndCheck(runs: number): (event: ServerEvent) => boolean {
  let ended = 0;
  return ({ type, data }) => {
    if (type === "entry" && data.type === "run_ended") ended++;
    return type === "state" && data.status !== "running" && ended >= runs;
  };
}

/** The events without states, which are sent with each connection. */
function withoutStates(events: readonly ServerEvent[]): string[] {
  return events.filter(({ type }) => type !== "state").map(({ type, data }) =>
    `${type} ${JSON.stringify(sortMembers(data))}`
  );
}

/** Returns a value with its members in order, which differs between an entry that was read and one that was written. */
function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toSorted(([left], [right]) => left < right ? -1 : 1);
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}

/** Reads all events of two runs, while the connection ends after each of some numbers of events. */
async function readWithCuts(
  test: TestServer,
  id: string,
  { after, cuts, isEnd }: {
    after: string;
    cuts: readonly number[];
    isEnd: (event: ServerEvent) => boolean;
  },
): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  let last: string | undefined = after;
  for (const cut of [...cuts, Infinity]) {
    const reader: EventReader = await test.events(id, last);
    let count = 0;
    let isDone = false;
    await reader.until((event) => {
      events.push(event);
      last = event.id ?? last;
      isDone = isEnd(event);
      return isDone || ++count >= cut;
    });
    await reader.close();
    if (isDone) break;
  }
  return events;
}

Deno.test("events: a client that reconnects anywhere gets every event once and in order, during and after runs", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 12 }),
      fc.boolean(),
      async (cuts, afterEnd) => {
        const test = new TestServer({ agent: { streamFn: createScript(), tools: [tool] } });
        const id = await test.create();
        const { eventId: after } = await test.prompt(id);
        const complete = readWithCuts(test, id, { after, cuts: [], isEnd: createEndCheck(2) });
        const options = { after, cuts, isEnd: createEndCheck(2) };
        const during = afterEnd ? undefined : readWithCuts(test, id, options);
        await test.waitForIdle(id);
        await test.prompt(id, "Again");
        await test.waitForIdle(id);
        const events = await (during ?? readWithCuts(test, id, options));
        assertEquals(withoutStates(events), withoutStates(await complete));
        const live = events.filter(({ data }) => typeof data.seq === "number");
        assert(live.length > 30);
        await test.server.close();
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("events: entries are complete and in order after restarts of the server, in every store", async () => {
  const directory = await Deno.makeTempDir();
  for (const store of [new InMemorySessionStore(), new FileSessionStore({ directory })]) {
    const script = createScript();
    const id = "restarted";
    const entries: string[] = [];
    let last: string | undefined;
    // Each process reads some events, and is then replaced by another one.
    const readSome = async (test: TestServer, isEnd: (event: ServerEvent) => boolean) => {
      const reader = await test.events(id, last);
      for (const event of await reader.until(isEnd)) {
        assert(event.type !== "reset");
        if (event.type === "entry") entries.push(event.data.id);
        last = event.id ?? last;
      }
      await reader.close();
    };
    const first = new TestServer({ store, agent: { streamFn: script, tools: [tool] } });
    await first.create({ id });
    await first.prompt(id);
    await readSome(first, ({ data }) => data.type === "tool_finished");
    await first.server.close();
    const second = new TestServer({ store, agent: { streamFn: script, tools: [tool] } });
    await readSome(second, ({ type, data }) => type === "entry" && data.type === "run_ended");
    await second.prompt(id, "Again");
    // The run may have ended before the client connects.
    const isEnd = ({ type, data }: ServerEvent) =>
      type === "message_update" || data.status === "idle";
    await readSome(second, isEnd);
    await second.server.close();
    const third = new TestServer({ store });
    await readSome(third, ({ type }) => type === "state");
    const log = await third.entries(id);
    assertEquals(entries, log.map(({ id }) => id));
    await third.server.close();
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("events: a new client gets the log and the reply so far, then its rest", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const test = new TestServer({ agent: { streamFn: slowReply(held) } });
  const id = await test.create();
  const { eventId } = await test.prompt(id);
  const first = await test.events(id, eventId);
  await first.until(({ type }) => type === "message_update");
  const late = await test.events(id);
  const before = await late.until(({ type }) => type === "state");
  assertEquals(before.at(-1)?.data.status, "running");
  assertEquals(before.at(-1)?.data.streamingMessage.content, [{ type: "text", text: "Hello " }]);
  release();
  const rest = await late.until(({ type, data }) => type === "state" && data.status === "idle");
  assertEquals(
    rest.filter(({ type }) => type === "message_update").map(({ data }) => data.delta.delta),
    ["you"],
  );
  await Promise.all([first.close(), late.close()]);
  await test.server.close();
});

/** Returns a model whose reply has a pause. */
function slowReply(held: Promise<void>): StreamFn {
  return async function* () {
    yield { type: "start" };
    yield { type: "text_start", contentIndex: 0 };
    yield { type: "text_delta", contentIndex: 0, delta: "Hello " };
    await held;
    yield { type: "text_delta", contentIndex: 0, delta: "you" };
    yield { type: "text_end", contentIndex: 0 };
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
    yield { type: "done", stopReason: "stop", usage };
  };
}

Deno.test("events: a position that the log does not have starts again after a reset", async () => {
  const test = new TestServer();
  const id = await test.create({ title: "A" });
  for (const after of ["9-abc", "1-abc", "1-abc~other-3"]) {
    const reader = await test.events(id, after);
    const events = await reader.until(({ type }) => type === "state");
    assertEquals(events.map(({ type }) => type), ["reset", "entry", "entry", "state"]);
    await reader.close();
  }
  const malformed = await test.call("GET", `/v1/sessions/${id}/events?after=x`);
  assertEquals([malformed.status, (await malformed.json()).error.code], [400, "bad_request"]);
  await test.server.close();
});

Deno.test("events: the entries of another process arrive, and its deletion ends the stream", async () => {
  const store = new InMemorySessionStore();
  const first = new TestServer({ store, pollMs: 5 });
  const second = new TestServer({ store, agent: { streamFn: scriptedStream([reply("Hi")]) } });
  const id = await first.create();
  const reader = await first.events(id);
  await reader.until(({ type }) => type === "state");
  await second.prompt(id);
  const events = await reader.until(({ type, data }) =>
    type === "entry" && data.type === "run_ended"
  );
  assert(events.some(({ data }) => data.message?.role === "assistant"));
  await second.waitForIdle(id);
  await second.json(204, "DELETE", `/v1/sessions/${id}`);
  const end = await reader.until(() => false);
  assertEquals(end.at(-1)?.type, "end");
  assertEquals(end.at(-1)?.data, { reason: "session_deleted" });
  await Promise.all([first.server.close(), second.server.close()]);
});

Deno.test("events: a session that was deleted and created again starts again after a reset", async () => {
  const store = new InMemorySessionStore();
  const test = new TestServer({ store, pollMs: 5 });
  const id = await test.create({ id: "again", title: "First" });
  const reader = await test.events(id);
  await reader.until(({ type }) => type === "state");
  await store.delete(id);
  await using session = await store.create({ id, tenant: "acme" });
  session.append({ type: "title", title: "Second" });
  await session.flush();
  const events = await reader.until(({ data }) => data.title === "Second" || data.reason);
  const isDeleted = events.at(-1)?.type === "end";
  assertEquals(events.map(({ type }) => type), isDeleted ? ["end"] : ["reset", "entry"]);
  await reader.close();
  await test.server.close();
});

Deno.test("events: sessions of sub-agents are not listed", async () => {
  const store = new InMemorySessionStore();
  const test = new TestServer({ store, limits: { sessions: 2 } });
  const id = await test.create();
  const metadata = { subAgentParentId: id, subAgentCallId: "call_1" };
  await using child = await store.create({ tenant: "acme", metadata });
  child.append({ type: "title", title: "Child" });
  await child.flush();
  const { sessions } = await test.json(200, "GET", "/v1/sessions");
  assertEquals(sessions.map(({ id }: { id: string }) => id), [id]);
  await test.create();
  await test.json(429, "POST", "/v1/sessions");
  await test.server.close();
});

Deno.test("events: types are selected, and a comment keeps the stream open", async () => {
  const test = new TestServer({
    keepAliveMs: 5,
    agent: { streamFn: scriptedStream([hang()]) },
  });
  const id = await test.create();
  const response = await test.call("GET", `/v1/sessions/${id}/events?types=state`);
  assertEquals(response.headers.get("cache-control"), "no-store, no-transform");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(": keep-alive")) text += (await reader?.read())?.value;
  assert(!text.includes("event: entry"));
  assert(text.includes("event: state"));
  await reader?.cancel();
  await test.json(400, "GET", `/v1/sessions/${id}/events?types=a%20b`);
  await test.server.close();
});

Deno.test("events: a client that does not read holds neither a run nor the shutdown", async () => {
  const steps = [
    ...Array.from({ length: 40 }, () => reply([toolCall("work", {})])),
    reply("x ".repeat(20_000)),
  ];
  const clock = new ManualClock();
  const agent = { streamFn: scriptedStream(steps), tools: [tool] };
  const test = new TestServer({ clock, agent });
  const id = await test.create();
  const { eventId } = await test.prompt(id);
  const slow = await test.events(id, eventId);
  await slow.next();
  await test.waitForIdle(id);
  const entries: string[] = [];
  const events = await slow.until(({ type, data }) => {
    if (type === "entry") entries.push(data.id);
    return type === "state" && data.status === "idle";
  });
  const { entries: count } = await test.json(200, "GET", `/v1/sessions/${id}`);
  assertEquals(new Set(entries).size, entries.length);
  assert(entries.length >= count - 3);
  assert(events.length > 40);
  await test.events(id);
  await slow.close();
  let isClosed = false;
  const closing = test.server.close().finally(() => isClosed = true);
  while (!isClosed) {
    clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(await closing, { ended: 0, handedOver: 0 });
});
