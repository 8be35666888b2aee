import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import type { AgentEvent } from "../../core/events/event.ts";
import { EventChannel, HIGH_WATER_MARK } from "./event_channel.ts";

function event(name: number | string): AgentEvent {
  return { type: "custom", name: `${name}`, data: null };
}

function getName(event: AgentEvent | undefined): string | undefined {
  return event?.type === "custom" ? event.name : undefined;
}

function createChannel(...names: (number | string)[]): {
  channel: EventChannel;
  stream: ReadableStream<AgentEvent>;
  cancels: unknown[];
} {
  const cancels: unknown[] = [];
  const channel = new EventChannel({
    onCancel: (reason) => {
      cancels.push(reason);
      return Promise.resolve();
    },
  });
  for (const name of names) channel.write(event(name));
  return { channel, stream: channel.stream(), cancels };
}

async function hasSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  let settled = promise === undefined;
  void promise?.then(() => settled = true);
  for (let microtask = 0; microtask < 10; microtask++) await Promise.resolve();
  return settled;
}

Deno.test("EventChannel: delivers events in order, and ignores those after close()", async () => {
  const { channel, stream } = createChannel(1, 2);
  channel.write(event(3));
  channel.close();
  channel.write(event("ignored"));
  assertEquals((await Array.fromAsync(stream)).map(getName), ["1", "2", "3"]);
});

Deno.test("EventChannel: resolves pending reads of a reader and of an iterator with the next events", async () => {
  for (const kind of ["reader", "iterator"] as const) {
    const { channel, stream } = createChannel();
    const source = kind === "reader" ? stream.getReader() : stream[Symbol.asyncIterator]();
    const next = () => "read" in source ? source.read() : source.next();
    const reads = [next(), next(), next()];
    channel.write(event(1));
    channel.write(event(2));
    channel.close();
    const results = await Promise.all(reads);
    assertEquals(results.map(({ done, value }) => done ? "done" : getName(value)), [
      "1",
      "2",
      "done",
    ]);
  }
});

Deno.test("EventChannel: fail() errors the stream after the queued events", async () => {
  for (const kind of ["reader", "iterator"] as const) {
    const { channel, stream } = createChannel(1);
    channel.fail(new Error("broken"));
    const source = kind === "reader" ? stream.getReader() : stream[Symbol.asyncIterator]();
    const next = () => "read" in source ? source.read() : source.next();
    assertEquals(getName((await next()).value), "1");
    await assertRejects(next, Error, "broken");
  }
});

Deno.test("EventChannel: fail() rejects a pending read", async () => {
  const { channel, stream } = createChannel();
  const reading = Array.fromAsync(stream);
  await Promise.resolve();
  channel.fail(new Error("broken"));
  await assertRejects(() => reading, Error, "broken");
  assertEquals(stream.locked, false);
});

Deno.test("EventChannel: write() returns a promise at the high-water mark, which resolves when the queue is empty", async () => {
  const { channel, stream } = createChannel();
  const waits = Array.from(
    { length: HIGH_WATER_MARK + 1 },
    (_, index) => channel.write(event(index)),
  );
  assertEquals(waits.findIndex((wait) => wait !== undefined), HIGH_WATER_MARK - 1);
  const reader = stream.getReader();
  for (let read = 0; read < HIGH_WATER_MARK; read++) await reader.read();
  assertEquals(await hasSettled(waits.at(-1)), false);
  await reader.read();
  assertEquals(await hasSettled(waits.at(-1)), true);
});

Deno.test("EventChannel: drained() resolves when the reader has taken every event", async () => {
  const { channel, stream } = createChannel();
  assertEquals(channel.drained(), undefined);
  channel.write(event(1));
  const drained = channel.drained();
  assertEquals(await hasSettled(drained), false);
  await stream.getReader().read();
  assertEquals(await hasSettled(drained), true);
});

Deno.test("EventChannel: release() resumes waiting writers and loses no event", async () => {
  const { channel, stream } = createChannel();
  for (let index = 0; index < HIGH_WATER_MARK; index++) channel.write(event(index));
  const full = channel.write(event("full"));
  const drained = channel.drained();
  channel.release();
  assertEquals([await hasSettled(full), await hasSettled(drained)], [true, true]);
  assertEquals([channel.write(event("more")), channel.drained()], [undefined, undefined]);
  channel.close();
  assertEquals((await Array.fromAsync(stream)).length, HIGH_WATER_MARK + 2);
});

for (const end of ["close", "fail"] as const) {
  Deno.test(`EventChannel: ${end}() resumes waiting writers`, async () => {
    const { channel } = createChannel();
    for (let index = 0; index < HIGH_WATER_MARK - 1; index++) channel.write(event(index));
    const full = channel.write(event("full"));
    const drained = channel.drained();
    if (end === "close") channel.close();
    else channel.fail(new Error("no"));
    assertEquals([await hasSettled(full), await hasSettled(drained)], [true, true]);
    assertEquals(channel.drained(), undefined);
  });
}

Deno.test("EventChannel: cancelling the stream calls onCancel once and resumes a waiting writer", async () => {
  const { channel, stream, cancels } = createChannel();
  for (let index = 0; index <= HIGH_WATER_MARK; index++) channel.write(event(index));
  const drained = channel.drained();
  const reader = stream.getReader();
  await reader.cancel("enough");
  await reader.cancel("again");
  assertEquals([cancels, await hasSettled(drained)], [["enough"], true]);
  assertEquals(channel.write(event("more")), undefined);
});

Deno.test("EventChannel: cancelling the stream settles a pending read", async () => {
  const { stream, cancels } = createChannel();
  const reader = stream.getReader();
  const reading = reader.read();
  await reader.cancel("enough");
  assertEquals([(await reading).done, cancels], [true, ["enough"]]);
});

Deno.test("EventChannel: leaving a for await loop cancels and unlocks the stream, reading to the end closes it", async () => {
  const left = createChannel(1, 2);
  for await (const _event of left.stream) break;
  assertEquals([left.cancels.length, left.stream.locked], [1, false]);

  const read = createChannel(1, 2);
  read.channel.close();
  for await (const _event of read.stream);
  assertEquals([read.cancels, read.stream.locked], [[], false]);
  assertEquals((await read.stream.getReader().read()).done, true);
});

Deno.test("EventChannel: close() ends an iterator that has read every event", async () => {
  const { channel, stream } = createChannel(1);
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  const last = iterator.next();
  channel.close();
  assertEquals((await last).done, true);
  assertEquals([stream.locked, (await iterator.next()).done], [false, true]);
});

Deno.test("EventChannel: fail() unlocks the stream of a for await loop", async () => {
  const { channel, stream } = createChannel(1);
  channel.fail(new Error("broken"));
  const readAll = async () => {
    for await (const _event of stream);
  };
  await assertRejects(readAll, Error, "broken");
  assertEquals(stream.locked, false);
});

Deno.test("EventChannel: values({ preventCancel: true }) lets another loop continue the stream", async () => {
  const { channel, stream, cancels } = createChannel(1, 2, 3);
  channel.close();
  for await (const _event of stream.values({ preventCancel: true })) break;
  assertEquals([cancels, stream.locked], [[], false]);
  assertEquals((await Array.fromAsync(stream)).map(getName), ["2", "3"]);
});

Deno.test("EventChannel: an iterator locks the stream", () => {
  const { stream } = createChannel(1);
  stream[Symbol.asyncIterator]();
  assertEquals(stream.locked, true);
  assertThrows(() => stream.getReader(), TypeError);
});

Deno.test("EventChannel: disposing an iterator cancels the stream", async () => {
  const { stream, cancels } = createChannel(1);
  await Reflect.get(stream[Symbol.asyncIterator](), Symbol.asyncDispose)();
  assertEquals([cancels.length, stream.locked], [1, false]);
});

Deno.test("EventChannel: passes 200,000 queued events in linear time", async () => {
  const { channel, stream } = createChannel();
  channel.release();
  const count = 200_000;
  const getThreadTime = startThreadTimer();
  for (let index = 0; index < count; index++) channel.write(event(index));
  channel.close();
  let read = 0;
  for await (const _event of stream) read++;
  const seconds = getThreadTime() / 1_000;
  assertEquals(read, count);
  // A queue that shifts an array takes minutes; the bound allows for a busy machine.
  assertEquals(seconds < 10, true, `${seconds} s`);
});

Deno.test("EventChannel: discard() drops queued and later events, so that no writer waits, until the end", async () => {
  const { channel, stream } = createChannel();
  const names = Array.from({ length: HIGH_WATER_MARK }, (_, index) => index);
  const waiting = names.map((name) => channel.write(event(name))).at(-1);
  assertEquals(await hasSettled(waiting), false);
  const reader = stream.getReader();
  channel.discard();
  assertEquals(await hasSettled(waiting), true);
  const read = reader.read();
  for (const name of names) assertEquals(channel.write(event(name)), undefined);
  assertEquals(channel.drained(), undefined);
  assertEquals(await hasSettled(read), false);
  channel.close();
  assertEquals((await read).done, true);
});
