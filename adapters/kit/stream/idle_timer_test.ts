import { assertEquals } from "@std/assert";
import { ManualClock } from "../../../src/testing/manual_clock.ts";
import { settle } from "../../../tests/conformance/ports.ts";
import { IdleTimer } from "./idle_timer.ts";

Deno.test("IdleTimer: fires when a wait has lasted for the limit, however late it started", async () => {
  const clock = new ManualClock();
  const firedAt: number[] = [];
  const timer = new IdleTimer({ clock, limitMs: 1000, onIdle: () => firedAt.push(clock.now()) });
  const advance = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await settle();
  };
  timer.start();
  await advance(600);
  timer.stop();
  timer.start();
  await advance(400);
  await advance(599);
  assertEquals(firedAt, []);
  await advance(1);
  assertEquals([firedAt, clock.sleepers], [[1600], 0]);
});

Deno.test("IdleTimer: does not fire between waits, and runs one timer for many of them", async () => {
  const clock = new ManualClock();
  let fired = 0;
  const timer = new IdleTimer({ clock, limitMs: 1000, onIdle: () => fired++ });
  for (let wait = 0; wait < 100; wait++) {
    timer.start();
    timer.stop();
  }
  assertEquals(clock.sleepers, 1);
  clock.advance(1000);
  await settle();
  assertEquals([fired, clock.sleepers], [0, 0]);
  timer.start();
  timer.dispose();
  await settle();
  assertEquals(clock.sleepers, 0);
});
