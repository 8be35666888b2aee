import { assertEquals } from "@std/assert";
import { withDeadline } from "../../../tests/deadline.ts";
import { EventLoopPause } from "./event_loop_pause.ts";

/** Computes until a pause is due, and until its timer is started. */
function compute(pause: EventLoopPause): Promise<void> {
  for (;;) {
    const waiting = pause.check();
    if (waiting) return waiting;
  }
}

Deno.test("EventLoopPause: a computation that never pauses waits until timers have fired", async () => {
  const pause = new EventLoopPause();
  let hasTimerFired = false;
  assertEquals(pause.check(), undefined);
  setTimeout(() => hasTimerFired = true);
  await withDeadline(compute(pause));
  assertEquals([hasTimerFired, pause.check()], [true, undefined]);
});

Deno.test("EventLoopPause: all that wait resume when the pause ends early, and no timer is left", async () => {
  const pause = new EventLoopPause();
  const waiting = [compute(pause), compute(pause)];
  pause.end();
  await withDeadline(Promise.all(waiting));
});

Deno.test("EventLoopPause: a computation that waits when a pause is due leaves no timer", async () => {
  const pause = new EventLoopPause();
  let hasTimerFired = false;
  setTimeout(() => hasTimerFired = true);
  while (!hasTimerFired) await withDeadline(pause.wait());
  pause.end();
});
