import { assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { BadRequestError } from "../../../src/core/errors/errors.ts";
import { type Usage, zeroUsage } from "../../../src/core/models/usage.ts";
import type { AssistantMessageEvent, StreamRequest } from "../../../src/core/streams/stream.ts";
import { createFaultyBody } from "../../../src/testing/faulty_body.ts";
import { ManualClock } from "../../../src/testing/manual_clock.ts";
import { readReply } from "../../../src/testing/read_reply.ts";
import { settle } from "../../../tests/conformance/ports.ts";
import { toEventStream } from "./event_stream.ts";
import { NdjsonParser } from "./ndjson.ts";

function createRequest(signal = new AbortController().signal): StreamRequest {
  return {
    model: { provider: "acme", modelId: "a", thinkingLevel: "off" },
    context: { systemPrompt: "", messages: [], tools: [] },
    options: {},
    signal,
  };
}

interface LineStreamOptions {
  readonly open: (connection: AbortController) => Promise<ReadableStream<Uint8Array> | null>;
  readonly read?: (line: string) => void;
  readonly getUsage?: () => Usage;
  readonly clock?: ManualClock;
  readonly signal?: AbortSignal;
}

/** Creates a stream whose lines are texts; the line `.` ends the reply. */
function createLineStream(
  { open, read, getUsage, clock = new ManualClock(), signal }: LineStreamOptions,
) {
  return toEventStream<string>({
    request: createRequest(signal),
    settings: { clock, idleTimeoutMs: 1000 },
    createExchange: (writer) => ({
      open: async (connection) => ({
        body: await open(connection),
        parser: new NdjsonParser(),
        replyReader: {
          get usage() {
            return getUsage?.() ?? { ...zeroUsage(), input: 7, total: 7 };
          },
          read(line) {
            if (read) return read(line);
            if (line === ".") writer.finish({ stopReason: "stop", usage: zeroUsage() });
            else writer.writeText(line);
          },
        },
      }),
    }),
  });
}

function createBody(text: string) {
  return createFaultyBody(new TextEncoder().encode(text));
}

Deno.test("toEventStream(): ends a response without end, whose parts are small", async () => {
  const chunk = new TextEncoder().encode(`${"x".repeat(1024 * 1024 - 1)}\n`);
  let isCancelled = false;
  const stream = createLineStream({
    read: () => {},
    open: () =>
      Promise.resolve(
        new ReadableStream({
          pull: (controller) => controller.enqueue(chunk),
          cancel: () => void (isCancelled = true),
        }),
      ),
  });
  const { error } = await readReply(stream);
  assertEquals(error?.message, "Cannot read the reply of acme: it is larger than 128 MiB");
  assertEquals([error?.code, error?.retryable, isCancelled], ["stream_error", false, true]);
});

Deno.test("toEventStream(): sends the request when the first event is read", async () => {
  let opened = 0;
  const stream = createLineStream({
    open: () => Promise.resolve(createBody(`${opened++}\n.\n`).stream),
  });
  await settle();
  assertEquals(opened, 0);
  await stream.cancel();
  assertEquals(opened, 0);
});

Deno.test("toEventStream(): does not read the body ahead of its reader", async () => {
  const body = createFaultyBody(new TextEncoder().encode("x\n".repeat(1000) + ".\n"), {
    chunkSizes: 10,
  });
  const reader = createLineStream({ open: () => Promise.resolve(body.stream) }).getReader();
  for (let i = 0; i < 3; i++) await reader.read();
  await settle();
  assertLess(body.stats.taken, 3);
  await reader.cancel();
  assertEquals(body.stats.cancelled, true);
});

Deno.test("toEventStream(): parses a huge chunk in slices", async () => {
  let read = 0;
  const body = createBody("x\n".repeat(200_000));
  const stream = createLineStream({
    open: () => Promise.resolve(body.stream),
    read: () => {
      read++;
      if (read === 1) throw new BadRequestError("stop");
    },
  });
  await readReply(stream);
  assertLess(read, 20_000);
});

Deno.test("toEventStream(): keeps an AgentError unchanged and reports any other error as a stream error", async () => {
  const rejecting = createLineStream({ open: () => Promise.reject(new BadRequestError("no")) });
  assertEquals((await readReply(rejecting)).error?.code, "bad_request");
  const throwing = createLineStream({
    open: () => Promise.resolve(createBody("x\n").stream),
    read: () => {
      throw new RangeError("oops");
    },
  });
  const { error } = await readReply(throwing);
  assertEquals([error?.code, error?.retryable, error?.provider], ["stream_error", false, "acme"]);
  assertStringIncludes(error?.message ?? "", "oops");
});

Deno.test("toEventStream(): reports an unreadable frame as a stream error, the last one as a network error [5.8]", async () => {
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

Deno.test("toEventStream(): ends a reply whose usage the reader cannot read", async () => {
  const getUsage = () => {
    throw new TypeError("Expected a list");
  };
  const broken = createFaultyBody(new TextEncoder().encode("x\n"), { ending: "break" });
  const failed = await readReply(
    createLineStream({ open: () => Promise.resolve(broken.stream), getUsage }),
  );
  assertEquals([failed.text, failed.error?.code, failed.usage], ["x", "network_error", undefined]);

  const silent = createFaultyBody(new TextEncoder().encode("x\n"), { ending: "hang" });
  const controller = new AbortController();
  const { signal } = controller;
  const reading = readReply(
    createLineStream({ open: () => Promise.resolve(silent.stream), getUsage, signal }),
  );
  await settle();
  controller.abort();
  assertEquals((await reading).error?.code, "aborted");
});

Deno.test("toEventStream(): keeps text and usage from before an error [5.9]", async () => {
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

Deno.test("toEventStream(): the idle timeout applies to a silent body, not to a slow reader [A140]", async () => {
  const clock = new ManualClock();
  const body = createFaultyBody(new TextEncoder().encode("a\nb\n"), {
    chunkSizes: 2,
    ending: "hang",
  });
  const reader = createLineStream({ open: () => Promise.resolve(body.stream), clock }).getReader();
  const seen: AssistantMessageEvent[] = [];
  const readNext = async () => {
    const { value } = await reader.read();
    if (value) seen.push(value);
  };
  for (let i = 0; i < 3; i++) await readNext();
  clock.advance(5000);
  await readNext();
  const last = readNext();
  await settle();
  clock.advance(999);
  await settle();
  assertEquals(seen.length, 4);
  clock.advance(1);
  await last;
  await readNext();
  assertEquals(seen.map(({ type }) => type).slice(-2), ["text_end", "error"]);
  assertEquals(body.stats.cancelled, true);
  assertEquals(clock.sleepers, 0);
});

Deno.test("toEventStream(): reads the rest of the body after the reply", async () => {
  const clock = new ManualClock();
  const body = createFaultyBody(new TextEncoder().encode("x\n.\nrest\n"), { chunkSizes: 4 });
  await readReply(createLineStream({ open: () => Promise.resolve(body.stream), clock }));
  await settle();
  assertEquals([body.stats.taken, body.stats.cancelled, clock.sleepers], [3, false, 0]);
});

Deno.test("toEventStream(): closes a connection that stays open after the reply", async () => {
  const clock = new ManualClock();
  const body = createFaultyBody(new TextEncoder().encode("x\n.\n"), { ending: "hang" });
  await readReply(createLineStream({ open: () => Promise.resolve(body.stream), clock }));
  await settle();
  assertEquals(body.stats.cancelled, false);
  clock.advance(50);
  await settle();
  assertEquals([body.stats.cancelled, clock.sleepers], [true, 0]);
});

Deno.test("toEventStream(): closes the connection of a reply that failed at once", async () => {
  const clock = new ManualClock();
  const body = createFaultyBody(new TextEncoder().encode("x\n"), { ending: "hang" });
  const read = () => {
    throw new BadRequestError("no");
  };
  await readReply(createLineStream({ open: () => Promise.resolve(body.stream), read, clock }));
  await settle();
  assertEquals([body.stats.cancelled, clock.now(), clock.sleepers], [true, 0, 0]);
});

Deno.test("toEventStream(): an abort ends a stream without a pending read", async () => {
  const controller = new AbortController();
  const body = createFaultyBody(new TextEncoder().encode("x\n"), { ending: "hang" });
  const open = () => Promise.resolve(body.stream);
  const reader = createLineStream({ open, signal: controller.signal }).getReader();
  for (let i = 0; i < 3; i++) await reader.read();
  controller.abort("stop");
  await settle();
  assertEquals(body.stats.cancelled, true);
  const types: (string | undefined)[] = [];
  for (let result = await reader.read(); !result.done; result = await reader.read()) {
    types.push(result.value.type);
  }
  assertEquals(types, ["text_end", "error"]);
});

Deno.test("toEventStream(): closes a response that arrives after the abort", async () => {
  const controller = new AbortController();
  const body = createBody("x\n");
  let respond = (_body: ReadableStream<Uint8Array>) => {};
  const open = () => new Promise<ReadableStream<Uint8Array>>((resolve) => (respond = resolve));
  const reading = readReply(createLineStream({ open, signal: controller.signal }));
  await settle();
  controller.abort();
  assertEquals((await reading).stopReason, "aborted");
  respond(body.stream);
  await settle();
  assertEquals(body.stats.cancelled, true);
});
