/**
 * The behaviour of `@std/testing/time` that the tests rely on, for JSR's package and the one in `scripts/offline/`.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime, TimeError } from "@std/testing/time";

Deno.test("@std/testing: FakeTime moves only when advanced, and runs the timers that are due", async () => {
  using time = new FakeTime(1_000);
  const seen: number[] = [];
  const interval = setInterval(() => seen.push(Date.now()), 100);
  const timer = new Promise<void>((resolve) => setTimeout(resolve, 250));

  await time.tickAsync(300);
  await timer;
  clearInterval(interval);
  assertEquals(seen, [1_100, 1_200, 1_300]);
  assertEquals([time.start, time.now, Date.now()], [1_000, 1_300, 1_300]);
});

Deno.test("@std/testing: AbortSignal.timeout() uses the fake clock", () => {
  using time = new FakeTime();
  const signal = AbortSignal.timeout(10);
  time.tick(9);
  assert(!signal.aborted);
  time.tick(1);
  assert(signal.aborted);
  assertEquals(signal.reason.name, "TimeoutError");
});

Deno.test("@std/testing: next() runs one timer, runAllAsync() all of them", async () => {
  using time = new FakeTime(0);
  const seen: string[] = [];
  setTimeout(() => seen.push("one"), 10);
  setTimeout(() => setTimeout(() => seen.push("three"), 10), 20);
  assert(time.next());
  assertEquals([...seen, time.now], ["one", 10]);
  await time.runAllAsync();
  assertEquals([...seen, time.now], ["one", "three", 30]);
  assert(!time.next());
});

Deno.test("@std/testing: FakeTime restores real time, and rejects a second instance", () => {
  const { setTimeout, Date } = globalThis;
  {
    using time = new FakeTime();
    assert(globalThis.setTimeout !== setTimeout);
    assertThrows(() => new FakeTime(), TimeError);
    assertThrows(() => time.now = 0, RangeError);
  }
  assert(globalThis.setTimeout === setTimeout && globalThis.Date === Date);
  assertThrows(() => FakeTime.restore(), TimeError);
});
