import { assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { BadRequestError } from "../../../src/core/errors.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../../src/core/stream.ts";
import { zeroUsage } from "../../../src/core/usage.ts";
import { createFaultyBody } from "../../../src/testing/faulty_body.ts";
import { readReply } from "../../../src/testing/read_reply.ts";
import type { Clock } from "../options/clock.ts";
import { type Exchange, toEventStream } from "./event_stream.ts";
import { NdjsonParser } from "./ndjson.ts";

/** A clock that stands still until it is told to go on. */
class FakeClock implements Clock {
  #now = 0;
  #timers = new Map<() => void, number>();

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    this.#timers.set(callback, this.#now + delayMs);
    return () => this.#timers.delete(callback);
  }

  get timers(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [callback, at] of [...this.#timers]) {
      if (at > this.#now) continue;
      this.#timers.delete(callback);
      callback();
    }
  }
}

function createRequest(signal = new AbortController().signal): StreamRequest {
  return {
    model: { provider: "acme", modelId: "a", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [], tools: [] },
    options: {},
    signal,
  };
}

interface LineStreamOptions {
  readonly open: Exchange<string>["open"];
  readonly read?: (line: string) => void;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** A stream of lines: each is text, `.` is the end. */
function createLineStream({ open, read, clock = new FakeClock(), signal }: LineStreamOptions) {
  return toEventStream<string>({
    request: createRequest(signal),
    settings: { clock, idleTimeoutMs: 1000 },
    createExchange: (writer) => ({
      open,
      parser: new NdjsonParser(),
      replyReader: {
        usage: { ...zeroUsage(), input: 7, total: 7 },
        read(line) {
          if (read) return read(line);
          if (line === ".") writer.finish({ stopReason: "stop", usage: zeroUsage() });
          else writer.writeText(line);
        },
      },
    }),
  });
}

function createBody(text: string) {
  return createFaultyBody(new TextEncoder().encode(text));
}

const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("nothing is sent before the first event is taken", async () => {
  let opened = 0;
  const stream = createLineStream({
    open: () => Promise.resolve(createBody(`${opened++}\n.\n`).stream),
  });
  await nextTask();
  assertEquals(opened, 0);
  await stream.cancel();
  assertEquals(opened, 0);
});

Deno.test("an unread event stream lets the body wait", async () => {
  const body = createFaultyBody(new TextEncoder().encode("x\n".repeat(1000) + ".\n"), {
    chunkSizes: 10,
  });
  const reader = createLineStream({ open: () => Promise.resolve(body.stream) }).getReader();
  for (let i = 0; i < 3; i++) await reader.read();
  await nextTask();
  assertLess(body.stats.taken, 3);
  await reader.cancel();
  assertEquals(body.stats.cancelled, true);
});

Deno.test("a body in one huge chunk is read in pieces", async () => {
  let read = 0;
  const body = createBody("x\n".repeat(200_000));
  const stream = createLineStream({
    open: () => Promise.resolve(body.stream),
    read: () => {
      read++;
      if (read === 1) throw new BadRequestError("enough");
    },
  });
  await readReply(stream);
  assertLess(read, 20_000);
});

Deno.test("an error of the adapter's own ends the reply as it is, any other as a stream error", async () => {
  const own = createLineStream({ open: () => Promise.reject(new BadRequestError("no")) });
  assertEquals((await readReply(own)).error?.code, "bad_request");
  const foreign = createLineStream({
    open: () => Promise.resolve(createBody("x\n").stream),
    read: () => {
      throw new RangeError("oops");
    },
  });
  const { error } = await readReply(foreign);
  assertEquals([error?.code, error?.retryable, error?.provider], ["stream_error", false, "acme"]);
  assertStringIncludes(error?.message ?? "", "oops");
});

Deno.test("5.8: an event that makes no sense is a stream error; at the very end it was cut off", async () => {
  const read = (line: string) => void JSON.parse(line);
  const inside = createLineStream({
    open: () => Promise.resolve(createBody('{"half\n{}\n').stream),
    read,
  });
  assertEquals((await readReply(inside)).error?.code, "stream_error");
  const atTheEnd = createLineStream({
    open: () => Promise.resolve(createBody('{}\n{"half').stream),
    read,
  });
  assertEquals((await readReply(atTheEnd)).error?.code, "network_error");
});

Deno.test("5.9: what was said before an error stays, and its tokens are told", async () => {
  const body = createFaultyBody(new TextEncoder().encode("x\n"), { ending: "break" });
  const reply = await readReply(createLineStream({ open: () => Promise.resolve(body.stream) }));
  assertEquals([reply.text, reply.error?.code, reply.error?.retryable], [
    "x",
    "network_error",
    true,
  ]);
  assertEquals(reply.usage?.input, 7);
  assertEquals(reply.events.map(({ type }) => type), [
    "start",
    "text_start",
    "text_delta",
    "text_end",
    "error",
  ]);
});

Deno.test("A 140: silence between chunks ends the reply, a slow reader does not", async () => {
  const clock = new FakeClock();
  const body = createFaultyBody(new TextEncoder().encode("a\nb\n"), {
    chunkSizes: 2,
    ending: "hang",
  });
  const reader = createLineStream({ open: () => Promise.resolve(body.stream), clock }).getReader();
  const seen: AssistantMessageEvent[] = [];
  const take = async () => {
    const { value } = await reader.read();
    if (value) seen.push(value);
  };
  for (let i = 0; i < 3; i++) await take();
  clock.advance(5000);
  await take();
  const last = take();
  await nextTask();
  clock.advance(999);
  await nextTask();
  assertEquals(seen.length, 4);
  clock.advance(1);
  await last;
  await take();
  assertEquals(seen.map(({ type }) => type).slice(-2), ["text_end", "error"]);
  assertEquals(body.stats.cancelled, true);
  assertEquals(clock.timers, 0);
});

Deno.test("after the end the body is read out, so that the connection can be used again", async () => {
  const clock = new FakeClock();
  const body = createFaultyBody(new TextEncoder().encode("x\n.\nrest\n"), { chunkSizes: 4 });
  await readReply(createLineStream({ open: () => Promise.resolve(body.stream), clock }));
  await nextTask();
  assertEquals([body.stats.taken, body.stats.cancelled, clock.timers], [3, false, 0]);
});

Deno.test("a connection that stays open after the end is closed", async () => {
  const clock = new FakeClock();
  const body = createFaultyBody(new TextEncoder().encode("x\n.\n"), { ending: "hang" });
  await readReply(createLineStream({ open: () => Promise.resolve(body.stream), clock }));
  await nextTask();
  assertEquals(body.stats.cancelled, false);
  clock.advance(50);
  await nextTask();
  assertEquals([body.stats.cancelled, clock.timers], [true, 0]);
});

Deno.test("an abort ends a stream that nobody reads", async () => {
  const controller = new AbortController();
  const body = createFaultyBody(new TextEncoder().encode("x\n"), { ending: "hang" });
  const open = () => Promise.resolve(body.stream);
  const reader = createLineStream({ open, signal: controller.signal }).getReader();
  for (let i = 0; i < 3; i++) await reader.read();
  controller.abort("enough");
  await nextTask();
  assertEquals(body.stats.cancelled, true);
  const types: (string | undefined)[] = [];
  for (let result = await reader.read(); !result.done; result = await reader.read()) {
    types.push(result.value.type);
  }
  assertEquals(types, ["text_end", "error"]);
});

Deno.test("a response that comes after the abort is closed", async () => {
  const controller = new AbortController();
  const body = createBody("x\n");
  let respond = (_body: ReadableStream<Uint8Array>) => {};
  const open = () => new Promise<ReadableStream<Uint8Array>>((resolve) => (respond = resolve));
  const reading = readReply(createLineStream({ open, signal: controller.signal }));
  await nextTask();
  controller.abort();
  assertEquals((await reading).stopReason, "aborted");
  respond(body.stream);
  await nextTask();
  assertEquals(body.stats.cancelled, true);
});
