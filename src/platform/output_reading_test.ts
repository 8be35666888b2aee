import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { OutputReading } from "./output_reading.ts";

/** Creates an output with a chunk every few milliseconds, which ends after some of them. */
function createSlowOutput(
  chunks: number,
  intervalMs: number,
): { output: ReadableStream<Uint8Array>; isCancelled: () => boolean } {
  let count = 0;
  let isCancelled = false;
  const output = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
      if (isCancelled) return;
      if (count === chunks) controller.close();
      else controller.enqueue(new Uint8Array([count++]));
    },
    cancel() {
      isCancelled = true;
    },
  }, { highWaterMark: 0 });
  return { output, isCancelled: () => isCancelled };
}

/** Lets the time of a test pass until a promise settles. */
async function passTimeUntil(settled: Promise<void>, time: FakeTime): Promise<void> {
  let isSettled = false;
  const wait = settled.finally(() => isSettled = true);
  while (!isSettled) await time.tickAsync(10);
  await wait;
}

Deno.test("OutputReading: drain() reads all of an output that takes longer than the wait for a silent one", async () => {
  using time = new FakeTime();
  const received: number[] = [];
  const { output } = createSlowOutput(12, 30);
  const reading = new OutputReading(output, ([byte = -1]) => void received.push(byte));
  await passTimeUntil(reading.drain(), time);
  assertEquals(received, Array.from({ length: 12 }, (_, index) => index));
});

Deno.test("OutputReading: drain() reads what is there although the program was busy", async () => {
  const received: number[] = [];
  const output = ReadableStream.from(
    Array.from({ length: 20 }, (_, index) => new Uint8Array([index])),
  );
  const reading = new OutputReading(output, async ([byte = -1]) => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (byte === 5) wait(300);
    received.push(byte);
  });
  await reading.drain();
  assertEquals(received.length, 20);
});

Deno.test("OutputReading: drain() waits for a slow function that gets the chunks", async () => {
  using time = new FakeTime();
  const output = ReadableStream.from(Array.from({ length: 5 }, () => new Uint8Array(1)));
  let count = 0;
  const reading = new OutputReading(output, async () => {
    await new Promise((resolve) => setTimeout(resolve, 260));
    count++;
  });
  await passTimeUntil(reading.drain(), time);
  assertEquals(count, 5);
});

Deno.test("OutputReading: drain() gives up an output of more than a pipe holds", async () => {
  let bytes = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
  }, { highWaterMark: 0 });
  const reading = new OutputReading(endless, async (chunk) => {
    bytes += chunk.length;
    await new Promise((resolve) => setTimeout(resolve, 0));
  });
  await reading.drain();
  assert(bytes >= 1_048_576);
});

Deno.test("OutputReading: stop() does not wait for output", async () => {
  using time = new FakeTime();
  const { output, isCancelled } = createSlowOutput(Infinity, 20);
  await new OutputReading(output, () => {}).stop();
  assert(isCancelled());
  await time.tickAsync(20); // the timer of its last chunk
});

Deno.test("OutputReading: drain() gives up an output that is silent, or that never ends", async () => {
  using time = new FakeTime();
  const silent = new OutputReading(new ReadableStream<Uint8Array>(), () => {});
  await passTimeUntil(silent.drain(), time);
  const endless = createSlowOutput(Infinity, 20);
  let count = 0;
  await passTimeUntil(new OutputReading(endless.output, () => void count++).drain(), time);
  assert(count > 0);
  assert(endless.isCancelled());
  await time.tickAsync(20); // the timer of its last chunk
});

Deno.test("OutputReading: a failure of the function that gets the chunks rejects", async () => {
  const reading = new OutputReading(ReadableStream.from([new Uint8Array(1)]), () => {
    throw new Error("full");
  });
  await assertRejects(() => reading.finished, Error, "full");
  await assertRejects(() => reading.drain(), Error, "full");
});

/** Keeps the program busy. */
function wait(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}
