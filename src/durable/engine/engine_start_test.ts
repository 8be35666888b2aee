import { assertEquals, assertRejects } from "@std/assert";
import { EngineClosedError } from "../../core/durable/engine_closed_error.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { EngineStart } from "./engine_start.ts";

Deno.test("EngineStart: calls at the same time and later ones share one start", async () => {
  const starting = new EngineStart(new AbortController().signal);
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
  const starting = new EngineStart(new AbortController().signal);
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

Deno.test("EngineStart: an engine that was closed does not start, also if that happens meanwhile", async () => {
  const closing = new AbortController();
  const starting = new EngineStart(closing.signal);
  const started = createDeferred<void>();
  const calls = [starting.run(() => started.promise), starting.untilStarted()];
  closing.abort();
  started.resolve();
  const later = starting.run(() => Promise.resolve());
  for (const call of [...calls, later, starting.untilStarted()]) {
    await assertRejects(() => call, EngineClosedError);
  }
});

Deno.test("EngineStart: what needs a started engine waits for its start", async () => {
  const starting = new EngineStart(new AbortController().signal);
  const hint = "Call start() of the engine first";
  await assertRejects(() => starting.untilStarted(), BadRequestError, hint);
  const failing = createDeferred<void>();
  const failed = [starting.run(() => failing.promise), starting.untilStarted()];
  failing.reject(new Error("unavailable"));
  for (const call of failed) await assertRejects(() => call, Error, "unavailable");
  const started = createDeferred<void>();
  const calls = [starting.run(() => started.promise), starting.untilStarted()];
  started.resolve();
  await Promise.all(calls);
});

Deno.test("EngineStart: a call that fails when the engine was closed rejects with that", async () => {
  const closing = new AbortController();
  const starting = new EngineStart(closing.signal);
  const failed = () => starting.whileOpen(() => Promise.reject(new Error("Connection terminated")));
  await assertRejects(failed, Error, "Connection terminated");
  assertEquals(await starting.whileOpen(() => Promise.resolve(1)), 1);
  closing.abort();
  assertEquals(await starting.whileOpen(() => Promise.resolve(1)), 1);
  await assertRejects(failed, EngineClosedError);
});
