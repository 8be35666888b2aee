import { assertEquals } from "@std/assert";
import { EventBuffer, readableEvents } from "./event_buffer.ts";

/** A stream of numbers, made `batch` at a time. */
function numbers(last: number, batch = 3) {
  let made = 0;
  let batches = 0;
  const cancelled: unknown[] = [];
  const buffer: EventBuffer<number> = new EventBuffer(async () => {
    batches++;
    await Promise.resolve();
    for (let i = 0; i < batch && made < last; i++) buffer.push(++made);
    if (made === last) buffer.close();
  });
  const stream = readableEvents(buffer, { cancel: (reason) => void cancelled.push(reason) });
  return { stream, buffer, batches: () => batches, cancelled: () => cancelled };
}

Deno.test("events come in order, by iterator, by reader and through a branch", async () => {
  assertEquals(await Array.fromAsync(numbers(8).stream), [1, 2, 3, 4, 5, 6, 7, 8]);
  const reader = numbers(8).stream.getReader();
  const read: number[] = [];
  for (let result = await reader.read(); !result.done; result = await reader.read()) {
    read.push(result.value);
  }
  assertEquals(read, [1, 2, 3, 4, 5, 6, 7, 8]);
  const [one, other] = numbers(4).stream.tee();
  assertEquals(await Promise.all([Array.fromAsync(one), Array.fromAsync(other)]), [
    [1, 2, 3, 4],
    [1, 2, 3, 4],
  ]);
});

Deno.test("no more is made than is asked for", async () => {
  const { stream, batches } = numbers(9);
  const iterator = stream[Symbol.asyncIterator]();
  assertEquals(batches(), 0);
  await iterator.next();
  assertEquals(batches(), 1);
  await iterator.next();
  await iterator.next();
  assertEquals(batches(), 1);
  await iterator.next();
  assertEquals(batches(), 2);
  await iterator.return?.();
});

Deno.test("calls of next that overlap get one event each", async () => {
  const iterator = numbers(4, 1).stream[Symbol.asyncIterator]();
  const results = await Promise.all([1, 2, 3, 4, 5].map(() => iterator.next()));
  assertEquals(results.map(({ value }) => value), [1, 2, 3, 4, undefined]);
});

Deno.test("leaving early cancels, unless told not to; reading can then go on", async () => {
  const left = numbers(9);
  for await (const _number of left.stream) break;
  assertEquals(left.cancelled(), [undefined]);
  const paused = numbers(4);
  for await (const _number of paused.stream.values({ preventCancel: true })) break;
  assertEquals(paused.cancelled(), []);
  assertEquals(await Array.fromAsync(paused.stream), [2, 3, 4]);
});

Deno.test("a stream is locked while it is read, and free afterwards", async () => {
  const { stream } = numbers(2);
  const iterator = stream[Symbol.asyncIterator]();
  assertEquals(stream.locked, true);
  for (let i = 0; i < 3; i++) await iterator.next();
  assertEquals(stream.locked, false);
});

Deno.test("an event or an end from outside reaches whoever waits", async () => {
  const buffer = new EventBuffer<number>(() => new Promise(() => {}));
  const stream = readableEvents(buffer, { cancel() {} });
  const iterator = stream[Symbol.asyncIterator]();
  const waiting = iterator.next();
  buffer.push(1);
  buffer.push(2);
  assertEquals(await waiting, { done: false, value: 1 });
  assertEquals(await iterator.next(), { done: false, value: 2 });
  const last = iterator.next();
  buffer.close();
  buffer.push(3);
  assertEquals(await last, { done: true, value: undefined });
});
