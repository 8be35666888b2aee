import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { settle } from "../../tests/conformance/ports.ts";
import type { AgentEvent } from "../core/events/event.ts";
import { type EventBody, pullEvent, type ResponseFormat } from "./pull_event.ts";

const KEEP_ALIVE = ": keep-alive\n\n";
const EVENT: AgentEvent = { type: "turn_start", turn: 1, seq: 4 };
const TEXT = `id: 4\nevent: turn_start\ndata: ${JSON.stringify(EVENT)}\n\n`;

/** A body whose events the test adds. */
function createBody(format: ResponseFormat, keepAliveMs: number | undefined) {
  let events: ReadableStreamDefaultController<AgentEvent> | undefined;
  const stream = new ReadableStream<AgentEvent>({
    start: (controller) => void (events = controller),
  });
  const body: EventBody = {
    ...{ format, keepAliveMs, reader: stream.getReader() },
    getFailure: () => Promise.resolve(undefined),
  };
  const response = new Response(
    new ReadableStream({
      pull: (controller) => pullEvent(controller, body),
      cancel: (reason) => body.reader.cancel(reason),
    }, { highWaterMark: 0 }),
  );
  const reader = response.body?.getReader();
  return {
    emit: (event: AgentEvent) => events?.enqueue(event),
    end: () => events?.close(),
    cancel: () => reader?.cancel(),
    read: async () => new TextDecoder().decode((await reader?.read())?.value),
  };
}

Deno.test("pullEvent(): a comment follows each time without an event, and no event is lost", async () => {
  using time = new FakeTime();
  const body = createBody("sse", 1_000);
  const texts: string[] = [];
  const pass = async (milliseconds: number) => {
    await time.tickAsync(milliseconds);
    await time.tickAsync(0); // The next read begins.
  };
  const reading = (async () => {
    for (let text = await body.read(); text; text = await body.read()) texts.push(text);
  })();
  await pass(999);
  assertEquals(texts, []);
  await pass(1);
  await pass(1_000);
  assertEquals(texts, [KEEP_ALIVE, KEEP_ALIVE]);
  await pass(500);
  body.emit(EVENT);
  await pass(999);
  assertEquals(texts, [KEEP_ALIVE, KEEP_ALIVE, TEXT]);
  body.end();
  await reading;
  assertEquals(texts, [KEEP_ALIVE, KEEP_ALIVE, TEXT]);
});

Deno.test("pullEvent(): a body that is cancelled while it waits for an event has no timer", async () => {
  const body = createBody("sse", 60_000);
  const read = body.read();
  await settle();
  await body.cancel();
  await read;
});

Deno.test("pullEvent(): without a time, and in formats without comments, a body waits for events alone", async () => {
  for (const [format, keepAliveMs] of [["sse", 0], ["sse", undefined], ["ndjson", 1]] as const) {
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
