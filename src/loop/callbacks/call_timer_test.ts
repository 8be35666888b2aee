import { assertEquals } from "@std/assert";
import { ManualClock } from "../../testing/mod.ts";
import { CallTimer } from "./call_timer.ts";

function startTimer(limitMs: number) {
  const clock = new ManualClock();
  let ends = 0;
  const timer = new CallTimer({ clock, limitMs, startedAt: clock.now(), onEnd: () => ends++ });
  const advance = async (milliseconds: number): Promise<number> => {
    clock.advance(milliseconds);
    await Promise.resolve();
    return ends;
  };
  return { clock, timer, advance };
}

Deno.test("CallTimer: ends after its limit", async () => {
  const { clock, advance } = startTimer(50);
  assertEquals([await advance(49), await advance(1), await advance(99)], [0, 1, 1]);
  assertEquals(clock.sleepers, 0);
});

Deno.test("CallTimer: the time of pauses does not count, also of several at the same time", async () => {
  const { clock, timer, advance } = startTimer(50);
  await advance(20);
  const [first, second] = [timer.pause(), timer.pause()];
  assertEquals([await advance(1_000), clock.sleepers], [0, 0]);
  first();
  first();
  assertEquals(await advance(1_000), 0);
  second();
  assertEquals([await advance(29), await advance(1)], [0, 1]);
});

Deno.test("CallTimer: a pause at the end of the time ends it only afterwards", async () => {
  const { clock, timer, advance } = startTimer(50);
  clock.advance(50);
  const resume = timer.pause();
  assertEquals(await advance(1_000), 0);
  resume();
  assertEquals(await advance(0), 1);
});

Deno.test("CallTimer: does not start again after it was stopped", async () => {
  const { clock, timer, advance } = startTimer(50);
  const resume = timer.pause();
  timer.stop();
  resume();
  timer.pause()();
  assertEquals([await advance(1_000), clock.sleepers], [0, 0]);
});
