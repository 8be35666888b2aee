/**
 * What the tests rely on in `@std/testing/time`. It holds for JSR's package and for the one in `scripts/offline/`.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { FakeTime, TimeError } from "@std/testing/time";

Deno.test("the clock stands still until it is moved, and timers run on their way", async () => {
  using time = new FakeTime(1_000);
  const seen: number[] = [];
  const ticking = setInterval(() => seen.push(Date.now()), 100);
  const waited = new Promise<void>((resolve) => setTimeout(resolve, 250));

  await time.tickAsync(300);
  await waited;
  clearInterval(ticking);
  assertEquals(seen, [1_100, 1_200, 1_300]);
  assertEquals([time.start, time.now, Date.now()], [1_000, 1_300, 1_300]);
});

Deno.test("AbortSignal.timeout follows the clock", () => {
  using time = new FakeTime();
  const signal = AbortSignal.timeout(10);
  time.tick(9);
  assert(!signal.aborted);
  time.tick(1);
  assert(signal.aborted);
  assertEquals(signal.reason.name, "TimeoutError");
});

Deno.test("the next timer runs, and then all of them", async () => {
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

Deno.test("real time comes back, and time is faked once", () => {
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
