import { assertEquals } from "@std/assert";
import { setTimeout as sleepUntil } from "node:timers/promises";
import { settle } from "../../../tests/conformance/ports.ts";
import { ManualClock } from "../../testing/manual_clock.ts";
import { systemClock } from "./ports.ts";
import { startTimer } from "./start_timer.ts";

Deno.test("startTimer(): calls back after the delay, unless it is cancelled", async () => {
  const clock = new ManualClock();
  const calls: string[] = [];
  startTimer(clock, 10, () => calls.push("kept"));
  const cancel = startTimer(clock, 10, () => calls.push("cancelled"));
  cancel();
  clock.advance(9);
  await settle();
  assertEquals(calls, []);
  clock.advance(1);
  await settle();
  assertEquals([calls, clock.sleepers], [["kept"], 0]);
});

Deno.test("startTimer(): on the clock of the runtime, calls back unless cancelled or infinite", async () => {
  const calls: string[] = [];
  const cancelInfinite = startTimer(systemClock, Infinity, () => calls.push("infinite"));
  const cancel = startTimer(systemClock, 1, () => calls.push("cancelled"));
  cancel();
  await new Promise<void>((resolve) => startTimer(systemClock, 5, resolve));
  assertEquals(calls, []);
  cancelInfinite();
});

Deno.test("startTimer(): a clock may reject when its sleep is cancelled, or may not sleep at all", async () => {
  const calls: string[] = [];
  const rejecting = {
    now: Date.now,
    sleep: (ms: number, signal?: AbortSignal) => sleepUntil(ms, undefined, { signal }),
  };
  startTimer(rejecting, 1, () => calls.push("cancelled"))();
  const broken = { now: Date.now, sleep: () => Promise.reject(new Error("no timers")) };
  await new Promise<void>((resolve) => startTimer(broken, 5, resolve));
  assertEquals(calls, []);
});
