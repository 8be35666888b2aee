import { assertEquals } from "@std/assert";
import { createDeferred } from "../../core/ports/deferred.ts";
import { StepTracker } from "./step_tracker.ts";

const never = () => new Promise<void>(() => {});

Deno.test("StepTracker: close() waits for no time if no step is executed, or without a grace period", async () => {
  await new StepTracker().close({ graceMs: 10_000, sleep: never });
  const busy = new StepTracker();
  void busy.track(never());
  await busy.close({ graceMs: 0, sleep: never });
  assertEquals(busy.detached.aborted, true);
});

Deno.test("StepTracker: close() lets the steps end, begins none, and detaches the run then", async () => {
  const tracker = new StepTracker();
  const step = createDeferred<string>();
  const tracked = tracker.track(step.promise);
  const closing = tracker.close({ sleep: never });
  assertEquals([tracker.closing.aborted, tracker.detached.aborted], [true, false]);
  step.resolve("recorded");
  await closing;
  assertEquals([await tracked, tracker.detached.aborted], ["recorded", true]);
});

Deno.test("StepTracker: a run whose step is left to another process is detached when the others are recorded", async () => {
  const tracker = new StepTracker();
  const other = createDeferred<void>();
  void tracker.track(never());
  const tracked = tracker.track(other.promise);
  tracker.abandon("The engine of another run was closed");
  assertEquals([tracker.closing.aborted, tracker.detached.aborted], [true, false]);
  other.resolve();
  await tracked;
  assertEquals(tracker.detached.aborted, true);
});
