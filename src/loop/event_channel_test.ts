import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { AgentEvent } from "../core/event.ts";
import { EventChannel, HIGH_WATER_MARK } from "./event_channel.ts";

function event(name: number | string): AgentEvent {
  return { type: "custom", name: `${name}`, data: null };
}

function nameOf(event: AgentEvent | undefined): string | undefined {
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

Deno.test("what was written is read in order, before the end", async () => {
  const { channel, stream } = channelWith(1, 2);
  channel.write(event(3));
  channel.close();
  channel.write(event("lost"));
  assertEquals((await Array.fromAsync(stream)).map(nameOf), ["1", "2", "3"]);
});

Deno.test("a reader that waits gets the next event, however it reads", async () => {
  for (const how of ["reader", "iterator"] as const) {
    const { channel, stream } = channelWith();
    const source = how === "reader" ? stream.getReader() : stream[Symbol.asyncIterator]();
    const next = () => "read" in source ? source.read() : source.next();
    const reads = [next(), next(), next()];
    channel.write(event(1));
    channel.write(event(2));
    channel.close();
    const results = await Promise.all(reads);
    assertEquals(results.map(({ done, value }) => done ? "done" : nameOf(value)), [
      "1",
      "2",
      "done",
    ]);
  }
});

Deno.test("a failure comes after what was written before it", async () => {
  for (const how of ["reader", "iterator"] as const) {
    const { channel, stream } = channelWith(1);
    channel.fail(new Error("broken"));
    const source = how === "reader" ? stream.getReader() : stream[Symbol.asyncIterator]();
    const next = () => "read" in source ? source.read() : source.next();
    assertEquals(nameOf((await next()).value), "1");
    await assertRejects(next, Error, "broken");
  }
});

Deno.test("a failure reaches a reader that waits", async () => {
  const { channel, stream } = channelWith();
  const reading = Array.fromAsync(stream);
  await Promise.resolve();
  channel.fail(new Error("broken"));
  await assertRejects(() => reading, Error, "broken");
  assertEquals(stream.locked, false);
});

Deno.test("the writer waits when it is too far ahead, until the reader has caught up", async () => {
  const { channel, stream } = channelWith();
  const waits = Array.from({ length: HIGH_WATER_MARK + 1 }, (_, at) => channel.write(event(at)));
  assertEquals(waits.findIndex((wait) => wait !== undefined), HIGH_WATER_MARK - 1);
  const reader = stream.getReader();
  for (let read = 0; read < HIGH_WATER_MARK; read++) await reader.read();
  assertEquals(await hasSettled(waits.at(-1)), false);
  await reader.read();
  assertEquals(await hasSettled(waits.at(-1)), true);
});

Deno.test("drained settles when the reader has taken everything", async () => {
  const { channel, stream } = channelWith();
  assertEquals(channel.drained(), undefined);
  channel.write(event(1));
  const drained = channel.drained();
  assertEquals(await hasSettled(drained), false);
  await stream.getReader().read();
  assertEquals(await hasSettled(drained), true);
});

Deno.test("a released channel keeps nobody waiting, and loses nothing", async () => {
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

Deno.test("a reader that leaves tells so once, and a writer that waits is woken", async () => {
  const { channel, stream, cancels } = channelWith();
  for (let at = 0; at <= HIGH_WATER_MARK; at++) channel.write(event(at));
  const drained = channel.drained();
  const reader = stream.getReader();
  await reader.cancel("enough");
  await reader.cancel("again");
  assertEquals([cancels, await hasSettled(drained)], [["enough"], true]);
  assertEquals(channel.write(event("more")), undefined);
});

Deno.test("a reader may leave while it waits", async () => {
  const { stream, cancels } = channelWith();
  const reader = stream.getReader();
  const reading = reader.read();
  await reader.cancel("enough");
  assertEquals([(await reading).done, cancels], [true, ["enough"]]);
});

Deno.test("leaving a loop cancels the stream and unlocks it; reading it to its end closes it", async () => {
  const left = channelWith(1, 2);
  for await (const _event of left.stream) break;
  assertEquals([left.cancels.length, left.stream.locked], [1, false]);

  const read = channelWith(1, 2);
  read.channel.close();
  for await (const _event of read.stream);
  assertEquals([read.cancels, read.stream.locked], [[], false]);
  assertEquals((await read.stream.getReader().read()).done, true);
});

Deno.test("a stream that ended after its last event was read is closed as well", async () => {
  const { channel, stream } = channelWith(1);
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  const last = iterator.next();
  channel.close();
  assertEquals((await last).done, true);
  assertEquals([stream.locked, (await iterator.next()).done], [false, true]);
});

Deno.test("a failed loop unlocks the stream", async () => {
  const { channel, stream } = channelWith(1);
  channel.fail(new Error("broken"));
  const readAll = async () => {
    for await (const _event of stream);
  };
  await assertRejects(readAll, Error, "broken");
  assertEquals(stream.locked, false);
});

Deno.test("a loop that keeps the stream may be followed by another", async () => {
  const { channel, stream, cancels } = channelWith(1, 2, 3);
  channel.close();
  for await (const _event of stream.values({ preventCancel: true })) break;
  assertEquals([cancels, stream.locked], [[], false]);
  assertEquals((await Array.fromAsync(stream)).map(nameOf), ["2", "3"]);
});

Deno.test("a stream that is iterated is locked for everyone else", () => {
  const { stream } = channelWith(1);
  stream[Symbol.asyncIterator]();
  assertEquals(stream.locked, true);
  assertThrows(() => stream.getReader(), TypeError);
});

Deno.test("an iterator that is disposed of cancels the stream", async () => {
  const { stream, cancels } = channelWith(1);
  await Reflect.get(stream[Symbol.asyncIterator](), Symbol.asyncDispose)();
  assertEquals([cancels.length, stream.locked], [1, false]);
});

Deno.test("two hundred thousand events in one burst cost linear time", async () => {
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
  // A queue that shifts an array takes minutes; the bound leaves room for a machine that is busy otherwise.
  assertEquals(seconds < 5, true, `${seconds} s`);
});
