import { assertEquals, assertRejects } from "@std/assert";
import { ReadableQueue } from "./readable_queue.ts";

interface NumberedValue {
  readonly number: number;
}

function getNumbers(values: readonly NumberedValue[]): number[] {
  return values.map(({ number }) => number);
}

/** Creates a stream of numbers that are pushed `batch` at a time. */
function createNumberStream(last: number, { batch = 3, readAhead = false } = {}) {
  let pushed = 0;
  let batches = 0;
  const cancelled: unknown[] = [];
  const queue: ReadableQueue<NumberedValue> = new ReadableQueue({
    pull: async () => {
      batches++;
      await Promise.resolve();
      for (let i = 0; i < batch && pushed < last; i++) queue.push({ number: ++pushed });
      if (pushed === last) queue.close();
    },
    cancel: (reason) => void cancelled.push(reason),
    readAhead,
  });
  return { stream: queue.stream(), batches: () => batches, cancelled: () => cancelled };
}

for (const readAhead of [false, true]) {
  const title = (text: string) => `ReadableQueue: ${text}${readAhead ? ", reading ahead" : ""}`;

  Deno.test(
    title("delivers values in order to an iterator, to a reader and to the branches of tee()"),
    async () => {
      const expected = [1, 2, 3, 4, 5, 6, 7, 8];
      assertEquals(
        getNumbers(await Array.fromAsync(createNumberStream(8, { readAhead }).stream)),
        expected,
      );
      const reader = createNumberStream(8, { readAhead }).stream.getReader();
      const read: number[] = [];
      for (let result = await reader.read(); !result.done; result = await reader.read()) {
        read.push(result.value.number);
      }
      assertEquals(read, expected);
      const branches = createNumberStream(4, { readAhead }).stream.tee();
      const both = await Promise.all(branches.map((branch) => Array.fromAsync(branch)));
      assertEquals(both.map(getNumbers), [[1, 2, 3, 4], [1, 2, 3, 4]]);
    },
  );

  Deno.test(title("calls `cancel` once when a reader cancels twice"), async () => {
    const { stream, cancelled } = createNumberStream(9, { readAhead });
    const reader = stream.getReader();
    await reader.read();
    await reader.cancel("enough");
    await reader.cancel("again");
    assertEquals(cancelled(), ["enough"]);
  });
}

Deno.test("ReadableQueue: pulls only while a read is pending", async () => {
  const { stream, batches } = createNumberStream(9);
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

Deno.test("ReadableQueue: overlapping reads get one value each", async () => {
  const iterator = createNumberStream(4, { batch: 1 }).stream[Symbol.asyncIterator]();
  const results = await Promise.all([1, 2, 3, 4, 5].map(() => iterator.next()));
  assertEquals(results.map(({ value }) => value?.number), [1, 2, 3, 4, undefined]);
});

Deno.test("ReadableQueue: return() of an iterator resolves to the value that it is called with", async () => {
  const iterator = createNumberStream(8).stream[Symbol.asyncIterator]();
  await iterator.next();
  assertEquals(await iterator.return?.("left"), { done: true, value: "left" });
  assertEquals(await iterator.return?.("again"), { done: true, value: "again" });
});

Deno.test("ReadableQueue: leaving a loop cancels the stream, unless preventCancel is set", async () => {
  const left = createNumberStream(9);
  for await (const _value of left.stream) break;
  assertEquals(left.cancelled(), [undefined]);
  const paused = createNumberStream(4);
  for await (const _value of paused.stream.values({ preventCancel: true })) break;
  assertEquals(paused.cancelled(), []);
  assertEquals(getNumbers(await Array.fromAsync(paused.stream)), [2, 3, 4]);
});

Deno.test("ReadableQueue: the stream is locked while it is iterated and closed at its end", async () => {
  const { stream } = createNumberStream(2);
  const iterator = stream[Symbol.asyncIterator]();
  assertEquals(stream.locked, true);
  for (let i = 0; i < 3; i++) await iterator.next();
  assertEquals(stream.locked, false);
  await stream.getReader().closed;
});

Deno.test("ReadableQueue: push() and close() settle the pending read while `pull` is pending", async () => {
  const queue = new ReadableQueue<NumberedValue>({ pull: () => new Promise(() => {}) });
  const iterator = queue.stream()[Symbol.asyncIterator]();
  const pending = iterator.next();
  queue.push({ number: 1 });
  queue.push({ number: 2 });
  assertEquals(queue.size, 1);
  assertEquals(await pending, { done: false, value: { number: 1 } });
  assertEquals(await iterator.next(), { done: false, value: { number: 2 } });
  const last = iterator.next();
  queue.close();
  queue.push({ number: 3 });
  assertEquals(await last, { done: true, value: undefined });
});

Deno.test("ReadableQueue: fail() errors the stream after the queued values", async () => {
  const queue = new ReadableQueue<NumberedValue>();
  const stream = queue.stream();
  queue.push({ number: 1 });
  queue.fail(new Error("broken"));
  const iterator = stream[Symbol.asyncIterator]();
  assertEquals((await iterator.next()).value?.number, 1);
  await assertRejects(() => iterator.next(), Error, "broken");
  await assertRejects(() => stream.getReader().closed, Error, "broken");
});

Deno.test("ReadableQueue: onEmpty is called when a read takes the last queued value", async () => {
  let emptyCalls = 0;
  const queue = new ReadableQueue<NumberedValue>({ onEmpty: () => void emptyCalls++ });
  const reader = queue.stream().getReader();
  queue.push({ number: 1 });
  queue.push({ number: 2 });
  await reader.read();
  assertEquals(emptyCalls, 0);
  await reader.read();
  assertEquals(emptyCalls, 1);
  await reader.cancel();
});

Deno.test("ReadableQueue: an iterator that was left with preventCancel is done, and the next one continues", async () => {
  const { stream } = createNumberStream(3);
  const iterator = stream.values({ preventCancel: true });
  assertEquals((await iterator.next()).value, { number: 1 });
  await iterator.return?.();
  assertEquals(await iterator.next(), { done: true, value: undefined });
  assertEquals(getNumbers(await Array.fromAsync(stream)), [2, 3]);
});

Deno.test("ReadableQueue: never pulls twice at a time", async () => {
  let pulling = 0;
  const counts: number[] = [];
  let made = 0;
  const queue: ReadableQueue<NumberedValue> = new ReadableQueue({
    pull: async () => {
      counts.push(++pulling);
      queue.push({ number: ++made });
      if (made === 4) queue.close();
      for (let task = 0; task < 4; task++) await Promise.resolve();
      pulling--;
    },
  });
  assertEquals(getNumbers(await Array.fromAsync(queue.stream())), [1, 2, 3, 4]);
  assertEquals(counts, [1, 1, 1, 1]);
});

for (const readAhead of [false, true]) {
  Deno.test(`ReadableQueue: a read of the native stream takes ${readAhead ? "all queued values, reading ahead" : "one value"}`, async () => {
    const queue = new ReadableQueue<NumberedValue>({ readAhead });
    for (const number of [1, 2, 3]) queue.push({ number });
    const reader = queue.stream().getReader();
    assertEquals((await reader.read()).value, { number: 1 });
    assertEquals(queue.size, readAhead ? 0 : 2);
    assertEquals((await reader.read()).value, { number: 2 });
    await reader.cancel();
  });
}

for (const end of ["left", "read to its end"] as const) {
  Deno.test(`ReadableQueue: a stream that was ${end} can be iterated again and is empty`, async () => {
    const { stream } = createNumberStream(2);
    for await (const _value of stream) if (end === "left") break;
    assertEquals(await Array.fromAsync(stream), []);
    assertEquals(await Array.fromAsync(stream.values(null as never)), []);
  });
}

Deno.test("ReadableQueue: a value that is pushed while cancel() runs is dropped", async () => {
  const queue: ReadableQueue<NumberedValue> = new ReadableQueue({
    cancel: () => queue.push({ number: 1 }),
  });
  const stream = queue.stream();
  const iterator = stream[Symbol.asyncIterator]();
  const pending = iterator.next();
  await iterator.return?.();
  assertEquals((await pending).done, true);
});
