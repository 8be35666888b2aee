import { assertEquals, assertRejects } from "@std/assert";
import { createDeferred } from "../../core/ports/deferred.ts";
import { EngineStart } from "./engine_start.ts";

Deno.test("EngineStart: calls at the same time and later ones share one start", async () => {
  const starting = new EngineStart();
  const started = createDeferred<void>();
  let starts = 0;
  const start = () => {
    starts++;
    return started.promise;
  };
  const calls = [starting.run(start), starting.run(start)];
  assertEquals(starting.isCalled, true);
  started.resolve();
  await Promise.all(calls);
  await starting.run(start);
  assertEquals(starts, 1);
});

Deno.test("EngineStart: a start that has failed can be repeated, and its end is awaited without its error", async () => {
  const starting = new EngineStart();
  await starting.untilEnded();
  const started = createDeferred<void>();
  const call = assertRejects(() => starting.run(() => started.promise), Error, "unavailable");
  let hasEnded = false;
  const ended = starting.untilEnded().then(() => hasEnded = true);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(hasEnded, false);
  started.reject(new Error("unavailable"));
  await Promise.all([call, ended]);
  assertEquals(starting.isCalled, false);
  await starting.run(() => Promise.resolve());
});
