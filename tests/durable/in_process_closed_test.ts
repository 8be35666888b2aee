import { assertEquals, assertRejects } from "@std/assert";
import { EngineClosedError } from "../../src/core/durable/engine_closed_error.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { InProcessEngine } from "../../src/durable/mod.ts";
import { createMemoryStorage, type EntryStorage, storeFrom } from "../../src/memory/mod.ts";
import { withDeadline } from "../deadline.ts";
import { speedUpTimers } from "../fast_timers.ts";

/** Returns a storage that gives no answer to some calls, or a late one. */
function createSilentStorage(
  isSilent: (method: string, id: unknown) => boolean,
  answered: Promise<void> = new Promise(() => {}),
): EntryStorage {
  return new Proxy(createMemoryStorage(), {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      return async (...args: unknown[]) => {
        if (isSilent(String(name), args[0])) await answered;
        return await method.apply(target, args);
      };
    },
  });
}

/** Starts a run over a store that gives no answer after `silence()`. */
async function startRun() {
  let isAnswering = true;
  const storage = createSilentStorage(() => !isAnswering);
  const engine = new InProcessEngine({ store: storeFrom(storage) });
  const workflow = engine.register("work", async (steps) => {
    await steps.publish("one");
    await steps.waitFor("end");
  });
  await engine.start();
  const run = await workflow.start(null);
  const reader = run.events()[Symbol.asyncIterator]();
  await withDeadline(reader.next());
  await reader.return?.();
  return { engine, run, silence: () => isAnswering = false };
}

for (const isClosedFirst of [false, true]) {
  const when = isClosedFirst
    ? "that are called after the engine was closed"
    : "when the engine is closed";
  Deno.test(`InProcessEngine: the uses of a run end ${when}, while the store gives no answer`, async () => {
    using _timers = speedUpTimers(100);
    const { engine, run, silence } = await startRun();
    silence();
    if (isClosedFirst) await withDeadline(engine.close());
    const calls = [
      ...[run.status(), run.result(), run.signal("end"), run.steer("Hello"), run.abort()],
      ...[run.decide("call", true), run.pendingApprovals(), run.readEvents()],
    ];
    const readers = [run.events(), run.events({ after: 1 }), run.events({ after: "checkpoint" })];
    const rejected = Promise.all(calls.map((call) => assertRejects(() => call, EngineClosedError)));
    const ended = Promise.all(readers.map((reader) => Array.fromAsync(reader)));
    if (!isClosedFirst) await withDeadline(engine.close());
    await withDeadline(rejected);
    await withDeadline(ended);
  });
}

Deno.test("InProcessEngine: a reader of events ends when its signal aborts, while the store gives no answer", async () => {
  using _timers = speedUpTimers(100);
  const { engine, run, silence } = await startRun();
  silence();
  for (const after of [0, "checkpoint"] as const) {
    const stop = new AbortController();
    const read = Array.fromAsync(run.events({ after, signal: stop.signal }));
    stop.abort();
    assertEquals(await withDeadline(read), []);
  }
  await withDeadline(engine.close());
});

Deno.test("InProcessEngine: close() leaves a run unlocked whose events are stored without an answer", async () => {
  using _timers = speedUpTimers(100);
  const requested = createDeferred<void>();
  const answered = createDeferred<void>();
  const released = createDeferred<void>();
  const storage = createSilentStorage((method, id) => {
    const isEvents = id === "durable-a-events";
    if (isEvents && method === "append") requested.resolve();
    if (isEvents && method === "release") released.resolve();
    return isEvents && method === "append";
  }, answered.promise);
  const engine = new InProcessEngine({ store: storeFrom(storage) });
  const workflow = engine.register("work", async (steps) => {
    await steps.publish("one");
    await steps.waitFor("end");
  });
  await engine.start();
  await workflow.start(null, { id: "a" });
  await withDeadline(requested.promise);
  await withDeadline(engine.close());
  const session = await storeFrom(storage).open("durable-a-run");
  await session.close();
  answered.resolve();
  await withDeadline(released.promise);
});
