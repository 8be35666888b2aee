import { assertEquals } from "@std/assert";
import { ManualClock } from "../../testing/manual_clock.ts";
import { MessageRate } from "./message_rate.ts";

const { signal } = new AbortController();

/** Counts messages until one has to wait; returns how many did not, and the wait. */
function countUntilWait(rate: MessageRate, length: number) {
  for (let count = 0;; count++) {
    const wait = rate.count(length, signal);
    if (wait) return { count, wait };
  }
}

Deno.test("MessageRate: the thousandth message of a second waits for the next one", async () => {
  const clock = new ManualClock();
  const rate = new MessageRate(clock);
  for (let second = 1; second <= 3; second++) {
    const { count, wait } = countUntilWait(rate, 100);
    assertEquals([count, clock.waits.length], [999, second]);
    clock.advance(1_000);
    await wait;
  }
});

Deno.test("MessageRate: messages of more than 4 MiB in a second wait, and one of any length is read", async () => {
  const clock = new ManualClock();
  const rate = new MessageRate(clock);
  for (
    const [length, expected] of [[1024 * 1024, 3], [16 * 1024 * 1024, 0], [2 ** 21, 1]] as const
  ) {
    const { count, wait } = countUntilWait(rate, length);
    assertEquals(count, expected);
    clock.advance(1_000);
    await wait;
  }
  assertEquals(clock.waits, [1_000, 1_000, 1_000]);
});

Deno.test("MessageRate: nothing waits for a second that has passed", async () => {
  const clock = new ManualClock();
  const rate = new MessageRate(clock);
  clock.advance(5_000);
  await countUntilWait(rate, 4 * 1024 * 1024).wait;
  assertEquals(clock.waits, []);
});
