import { assertEquals, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { fakeTool } from "./fake_tool.ts";
import { ManualClock } from "./manual_clock.ts";
import { toolCall } from "./messages.ts";
import { fail, reply } from "./script.ts";
import { scriptedStream } from "./scripted_stream.ts";

/** Sleeps for each duration, and returns the list of the durations that have ended. */
function startSleeps(clock: ManualClock, durations: readonly number[]): number[] {
  const ended: number[] = [];
  for (const milliseconds of durations) {
    void clock.sleep(milliseconds).then(() => ended.push(milliseconds));
  }
  return ended;
}

/** Runs all pending microtasks. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** Waits until a run sleeps, and advances the clock. */
async function advanceWhenSleeping(clock: ManualClock, milliseconds: number): Promise<void> {
  while (clock.sleepers === 0) await settle();
  clock.advance(milliseconds);
}

Deno.test("ManualClock: starts at 0 and advances only on demand", async () => {
  const clock = new ManualClock();
  assertEquals(clock.now(), 0);
  await settle();
  assertEquals(clock.now(), 0);
  clock.advance(1500);
  clock.advance(0.5);
  assertEquals(clock.now(), 1500.5);
});

Deno.test("ManualClock: wakes the sleeps that are due, the earliest first", async () => {
  const clock = new ManualClock();
  const ended = startSleeps(clock, [30, 10, 20, 40]);
  assertEquals(clock.sleepers, 4);
  clock.advance(9);
  await settle();
  assertEquals(ended, []);
  clock.advance(21);
  await settle();
  assertEquals(ended, [10, 20, 30]);
  assertEquals(clock.sleepers, 1);
  assertEquals(clock.waits, [30, 10, 20, 40]);
});

Deno.test("ManualClock: counts a sleep from the time of its start", async () => {
  const clock = new ManualClock();
  clock.advance(100);
  const ended = startSleeps(clock, [50]);
  clock.advance(49);
  await settle();
  assertEquals(ended, []);
  clock.advance(1);
  await settle();
  assertEquals(ended, [50]);
});

Deno.test("ManualClock: advanceToNext() ends one sleep after the other, but none that never ends", async () => {
  const clock = new ManualClock();
  clock.advanceToNext();
  assertEquals(clock.now(), 0);
  const ended = startSleeps(clock, [30, 10, Infinity, 10]);
  clock.advanceToNext();
  await settle();
  assertEquals([clock.now(), ended], [10, [10, 10]]);
  clock.advanceToNext();
  await settle();
  assertEquals([clock.now(), ended], [30, [10, 10, 30]]);
  clock.advanceToNext();
  await settle();
  assertEquals([clock.now(), clock.sleepers], [30, 1]);
});

Deno.test("ManualClock: sleep() resolves when its signal is aborted, and at once if it was before", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(1000, controller.signal);
  controller.abort();
  await sleeping;
  assertEquals([clock.now(), clock.sleepers], [0, 0]);
  await clock.sleep(1000, controller.signal);
  assertEquals(clock.sleepers, 0);
  assertEquals(clock.waits, [1000, 1000]);
});

Deno.test("ManualClock: an abort after the end of a sleep has no effect", async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(10, controller.signal);
  clock.advance(10);
  await sleeping;
  const ended = startSleeps(clock, [10]);
  controller.abort();
  await settle();
  assertEquals([ended, clock.sleepers], [[], 1]);
});

Deno.test("ManualClock: is the clock of an agent, for a retry and the timeout of a tool", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const stuck = fakeTool({ name: "stuck", delayMs: Infinity, timeoutMs: 30_000 });
  const streamFn = scriptedStream([
    fail("network_error", "Connection reset"),
    reply([toolCall("stuck")]),
    reply("It does not answer."),
  ]);
  const retry = () => 60_000;
  const agent = new Agent({ model: "test/model", streamFn, tools: [stuck], now, sleep, retry });
  const running = agent.prompt("Try it");
  await advanceWhenSleeping(clock, 60_000);
  await advanceWhenSleeping(clock, 30_000);
  const { text, messages } = await running;
  assertEquals(text, "It does not answer.");
  assertEquals(messages.map(({ timestamp }) => timestamp), [0, 60_000, 90_000, 90_000]);
});

Deno.test("ManualClock: a sleep of a negative time or NaN ends with the next advance, which does not go back", async () => {
  const clock = new ManualClock();
  clock.advance(10);
  const slept = Promise.all([clock.sleep(-5), clock.sleep(NaN), clock.sleep(0)]);
  clock.advanceToNext();
  await slept;
  assertEquals([clock.now(), clock.sleepers], [10, 0]);
});

Deno.test("ManualClock: advance() throws for a time that is not a number of at least 0", () => {
  const clock = new ManualClock();
  for (const time of [-1, NaN, "5", undefined]) {
    assertThrows(() => clock.advance(time as number), BadRequestError, "of at least 0, not");
  }
  clock.advance(0);
  assertEquals(clock.now(), 0);
});
