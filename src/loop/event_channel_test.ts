import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { AgentEvent } from "../core/event.ts";
import { EventChannel, HIGH_WATER_MARK } from "./event_channel.ts";

function event(name: number | string): AgentEvent {
  return { type: "custom", name: `${name}`, data: null };
}

function getName(event: AgentEvent | undefined): string | undefined {
  return event?.type === "custom" ? event.name : undefined;
}

function channelWith(...names: (number | string)[]): {
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
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return settled;
}

Deno.test("EventChannel: events are read in order, before the end", async () => {
  const { channel, stream } = channelWith(1, 2);
  channel.write(event(3));
  channel.close();
  channel.write(event("lost"));
  assertEquals((await Array.fromAsync(stream)).map(getName), ["1", "2", "3"]);
});

Deno.test("EventChannel: a pending read gets the next event, by reader and by iterator", async () => {
  for (const how of ["reader", "iterator"] as const) {
    const { channel, stream } = channelWith();
    const source = how === "reader" ? stream.getReader() : stream[Symbol.asyncIterator]();
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

Deno.test("fail() errors the stream after the events written before", async () => {
  for (const how of ["reader", "iterator"] as const) {
    const { channel, stream } = channelWith(1);
    channel.fail(new Error("broken"));
    const source = how === "reader" ? stream.getReader() : stream[Symbol.asyncIterator]();
    const next = () => "read" in source ? source.read() : source.next();
    assertEquals(getName((await next()).value), "1");
    await assertRejects(next, Error, "broken");
  }
});

Deno.test("fail() rejects a pending read", async () => {
  const { channel, stream } = channelWith();
  const reading = Array.fromAsync(stream);
  await Promise.resolve();
  channel.fail(new Error("broken"));
  await assertRejects(() => reading, Error, "broken");
  assertEquals(stream.locked, false);
});

Deno.test("write() returns a promise at the high-water mark, until the reader has caught up", async () => {
  const { channel, stream } = channelWith();
  const waits = Array.from({ length: HIGH_WATER_MARK + 1 }, (_, at) => channel.write(event(at)));
  assertEquals(waits.findIndex((wait) => wait !== undefined), HIGH_WATER_MARK - 1);
  const reader = stream.getReader();
  for (let read = 0; read < HIGH_WATER_MARK; read++) await reader.read();
  assertEquals(await hasSettled(waits.at(-1)), false);
  await reader.read();
  assertEquals(await hasSettled(waits.at(-1)), true);
});

Deno.test("drained() resolves when the reader has taken every event", async () => {
  const { channel, stream } = channelWith();
  assertEquals(channel.drained(), undefined);
  channel.write(event(1));
  const drained = channel.drained();
  assertEquals(await hasSettled(drained), false);
  await stream.getReader().read();
  assertEquals(await hasSettled(drained), true);
});

Deno.test("release() resumes waiting writers and loses no event", async () => {
  const { channel, stream } = channelWith();
  for (let at = 0; at < HIGH_WATER_MARK; at++) channel.write(event(at));
  const full = channel.write(event("full"));
  const drained = channel.drained();
  channel.release();
  assertEquals([await hasSettled(full), await hasSettled(drained)], [true, true]);
  assertEquals([channel.write(event("more")), channel.drained()], [undefined, undefined]);
  channel.close();
  assertEquals((await Array.fromAsync(stream)).length, HIGH_WATER_MARK + 2);
});

Deno.test("cancel() calls onCancel once and resumes a waiting writer", async () => {
  const { channel, stream, cancels } = channelWith();
  for (let at = 0; at <= HIGH_WATER_MARK; at++) channel.write(event(at));
  const drained = channel.drained();
  const reader = stream.getReader();
  await reader.cancel("enough");
  await reader.cancel("again");
  assertEquals([cancels, await hasSettled(drained)], [["enough"], true]);
  assertEquals(channel.write(event("more")), undefined);
});

Deno.test("cancel() settles a pending read", async () => {
  const { stream, cancels } = channelWith();
  const reader = stream.getReader();
  const reading = reader.read();
  await reader.cancel("enough");
  assertEquals([(await reading).done, cancels], [true, ["enough"]]);
});

Deno.test("for await: leaving the loop cancels and unlocks the stream, reading to the end closes it", async () => {
  const left = channelWith(1, 2);
  for await (const _event of left.stream) break;
  assertEquals([left.cancels.length, left.stream.locked], [1, false]);

  const read = channelWith(1, 2);
  read.channel.close();
  for await (const _event of read.stream);
  assertEquals([read.cancels, read.stream.locked], [[], false]);
  assertEquals((await read.stream.getReader().read()).done, true);
});

Deno.test("close() ends an iterator that has read every event", async () => {
  const { channel, stream } = channelWith(1);
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  const last = iterator.next();
  channel.close();
  assertEquals((await last).done, true);
  assertEquals([stream.locked, (await iterator.next()).done], [false, true]);
});

Deno.test("fail() unlocks the stream of a for await loop", async () => {
  const { channel, stream } = channelWith(1);
  channel.fail(new Error("broken"));
  const readAll = async () => {
    for await (const _event of stream);
  };
  await assertRejects(readAll, Error, "broken");
  assertEquals(stream.locked, false);
});

Deno.test("values({ preventCancel: true }): another loop can continue the stream", async () => {
  const { channel, stream, cancels } = channelWith(1, 2, 3);
  channel.close();
  for await (const _event of stream.values({ preventCancel: true })) break;
  assertEquals([cancels, stream.locked], [[], false]);
  assertEquals((await Array.fromAsync(stream)).map(getName), ["2", "3"]);
});

Deno.test("for await locks the stream", () => {
  const { stream } = channelWith(1);
  stream[Symbol.asyncIterator]();
  assertEquals(stream.locked, true);
  assertThrows(() => stream.getReader(), TypeError);
});

Deno.test("Symbol.asyncDispose of the iterator cancels the stream", async () => {
  const { stream, cancels } = channelWith(1);
  await Reflect.get(stream[Symbol.asyncIterator](), Symbol.asyncDispose)();
  assertEquals([cancels.length, stream.locked], [1, false]);
});

Deno.test("EventChannel: 200,000 events in one burst take linear time", async () => {
  const { channel, stream } = channelWith();
  channel.release();
  const burst = 200_000;
  const start = performance.now();
  for (let at = 0; at < burst; at++) channel.write(event(at));
  channel.close();
  let read = 0;
  for await (const _event of stream) read++;
  const seconds = (performance.now() - start) / 1_000;
  assertEquals(read, burst);
  // A queue that shifts an array takes minutes; the bound allows for a busy machine.
  assertEquals(seconds < 5, true, `${seconds} s`);
});
