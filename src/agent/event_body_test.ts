import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { settle } from "../../tests/conformance/ports.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { zeroCost, zeroUsage } from "../core/models/usage.ts";
import { EventBody, type ResponseFormat } from "./event_body.ts";

const KEEP_ALIVE = ": keep-alive\n\n";
const EVENT: AgentEvent = { type: "turn_start", turn: 1, seq: 4 };
const TEXT = `id: 4\nevent: turn_start\ndata: ${JSON.stringify(EVENT)}\n\n`;

/** A body whose events the test adds. */
function createBody(format: ResponseFormat, keepAliveMs: number) {
  let events: ReadableStreamDefaultController<AgentEvent> | undefined;
  const start = (controller: ReadableStreamDefaultController<AgentEvent>) => {
    events = controller;
  };
  const reading = new ReadableStream<AgentEvent>({ start }).getReader();
  const options = {
    ...{ format, keepAliveMs },
    getFailure: () => Promise.resolve(undefined),
  };
  let body: EventBody | undefined;
  const reader = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => (body ??= new EventBody(controller, reading, options)).pull(),
    cancel: (reason) => body?.cancel(reason),
  }, { highWaterMark: 0 }).getReader();
  return {
    emit: (event: AgentEvent) => events?.enqueue(event),
    fail: (error: Error) => events?.error(error),
    end: () => events?.close(),
    cancel: () => reader.cancel(),
    read: async () => new TextDecoder().decode((await reader.read()).value),
  };
}

Deno.test("EventBody: comments follow while no event comes, at most keepAliveMs apart, and no event is lost", async () => {
  using time = new FakeTime();
  const body = createBody("sse", 1_000);
  const texts: string[] = [];
  const pass = async (milliseconds: number) => {
    await time.tickAsync(milliseconds);
    await time.tickAsync(0); // The reader has read.
  };
  const reading = (async () => {
    for (let text = await body.read(); text; text = await body.read()) texts.push(text);
  })();
  await pass(499);
  assertEquals(texts, []);
  await pass(1);
  assertEquals(texts.splice(0), [KEEP_ALIVE]);
  await pass(100);
  body.emit(EVENT);
  await pass(400);
  assertEquals(texts.splice(0), [TEXT]);
  await pass(500);
  assertEquals(texts.splice(0), [KEEP_ALIVE]);
  body.end();
  await reading;
  assertEquals(texts, []);
});

Deno.test("EventBody: a client that does not wait gets no comments, and a timer is started again when it does", async () => {
  using time = new FakeTime();
  const body = createBody("sse", 1_000);
  body.emit(EVENT);
  assertEquals(await body.read(), TEXT);
  await time.tickAsync(10_000);
  assertEquals(time.next(), false); // There is no timer.
  const read = body.read();
  await time.tickAsync(500);
  await time.tickAsync(500);
  assertEquals(await read, KEEP_ALIVE);
  await body.cancel();
});

Deno.test("EventBody: a client that stops reading while no event comes has one comment to read at most", async () => {
  using time = new FakeTime();
  const body = createBody("sse", 1_000);
  const read = body.read();
  await time.tickAsync(500);
  assertEquals(await read, KEEP_ALIVE);
  for (let check = 0; check < 10; check++) await time.tickAsync(500);
  body.emit(EVENT);
  await time.tickAsync(0);
  assertEquals([await body.read(), await body.read()], [KEEP_ALIVE, TEXT]);
  await body.cancel();
});

Deno.test("EventBody: a client that leaves the end of the body unread has no timer", async () => {
  using time = new FakeTime();
  const body = createBody("sse", 1_000);
  const [usage, cost] = [zeroUsage(), zeroCost()];
  body.emit({ type: "agent_end", messages: [], stopReason: "stop", usage, cost, seq: 5 });
  await body.read();
  assertEquals(time.next(), false);
  await body.cancel();
});

Deno.test("EventBody: neither a body that is cancelled nor one that fails has a timer", async () => {
  const cancelled = createBody("sse", 60_000);
  const read = cancelled.read();
  await settle();
  await cancelled.cancel();
  assertEquals(await read, "");

  const idle = createBody("sse", 60_000);
  idle.emit(EVENT);
  assertEquals(await idle.read(), TEXT);
  await idle.cancel();

  const failed = createBody("sse", 60_000);
  const failing = failed.read();
  await settle();
  failed.fail(new Error("broken"));
  await assertRejects(() => failing, Error, "broken");
});

Deno.test("EventBody: without a time, and in formats without comments, it waits for events alone", async () => {
  for (const [format, keepAliveMs] of [["sse", 0], ["ndjson", 1]] as const) {
    using time = new FakeTime();
    const body = createBody(format, keepAliveMs);
    const read = body.read();
    await time.tickAsync(600_000);
    body.emit(EVENT);
    assertEquals(await read, format === "sse" ? TEXT : `${JSON.stringify(EVENT)}\n`);
    body.end();
    assertEquals(await body.read(), "");
  }
});
