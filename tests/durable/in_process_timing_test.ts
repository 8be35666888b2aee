import { assertEquals, assertLess, assertRejects } from "@std/assert";
import { EngineClosedError } from "../../src/core/durable/engine_closed_error.ts";
import { BadRequestError, getErrorMessage } from "../../src/core/errors/errors.ts";
import { createDeferred, type Deferred } from "../../src/core/ports/deferred.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import { durableAgent, InProcessEngine } from "../../src/durable/mod.ts";
import { createMemoryStorage, InMemorySessionStore, storeFrom } from "../../src/memory/mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { withDeadline } from "../deadline.ts";
import { speedUpTimers } from "../fast_timers.ts";
import { waitUntil } from "../wait_until.ts";

/** Returns a store whose methods wait before they are executed. */
function delayStore(
  store: SessionStore,
  wait: (method: string, id: string | undefined) => Promise<void>,
): SessionStore {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        const [subject] = args as [string | { readonly id?: string } | undefined];
        await wait(String(name), typeof subject === "object" ? subject.id : subject);
        return await Reflect.apply(member, target, args);
      };
    },
  });
}

/** Opens an engine whose store delays a method with an id, and starts the run `a`, which waits for a signal. */
function openDelayed(method: string, id: string) {
  const store = new InMemorySessionStore();
  const requested = createDeferred<void>();
  const released = createDeferred<void>();
  const delayed = delayStore(store, async (name, subject) => {
    if (name !== method || subject !== id) return;
    requested.resolve();
    await released.promise;
  });
  let attempts = 0;
  const create = (store: SessionStore) => {
    const engine = new InProcessEngine({ store, pollMs: 5 });
    const workflow = engine.register("wait", (steps) => {
      attempts++;
      return steps.waitFor("go");
    });
    return { engine, workflow };
  };
  const next = async () => {
    await using engine = create(store).engine;
    await engine.start();
    await engine.getRun("a").signal("go", "gone");
    return [await engine.getRun("a").result(), attempts];
  };
  const count = () => attempts;
  return {
    ...create(delayed),
    create: () => create(store),
    requested,
    released,
    next,
    count,
    store,
  };
}

/** Checks that a promise waits until another one is released. */
async function assertWaits(promise: Promise<void>, released: Deferred<void>): Promise<void> {
  let hasEnded = false;
  const ended = promise.then(() => hasEnded = true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assertEquals(hasEnded, false);
  released.resolve();
  await ended;
}

/** Checks that the session of the run `a` is not open. */
async function assertUnlocked(store: SessionStore): Promise<void> {
  await (await store.open("durable-a-run")).close();
}

Deno.test("InProcessEngine: an engine that is closed while it opens a run leaves it to the next one", async () => {
  const delayed = openDelayed("open", "durable-a-run");
  const { engine, create, requested, released, next, count, store } = delayed;
  const first = create();
  await first.engine.start();
  await first.workflow.start(null, { id: "a" });
  await first.engine.close({ graceMs: 0 });
  const attempts = count();
  const starting = assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
  await requested.promise;
  await assertWaits(engine.close({ graceMs: 0 }), released);
  await starting;
  await assertUnlocked(store);
  assertEquals(await next(), ["gone", attempts + 1]);
});

Deno.test("InProcessEngine: an engine that is closed while it creates a run leaves it to the next one", async () => {
  const delayed = openDelayed("create", "durable-a-run");
  const { engine, workflow, requested, released, next, store } = delayed;
  await engine.start();
  const starting = workflow.start(null, { id: "a" });
  await requested.promise;
  await assertWaits(engine.close({ graceMs: 0 }), released);
  await starting;
  await assertUnlocked(store);
  assertEquals(await next(), ["gone", 1]);
});

Deno.test("InProcessEngine: events that wait when the engine is closed are left to the next one, and lock nothing", async () => {
  const store = new InMemorySessionStore();
  let reading = Promise.resolve();
  const delayed = delayStore(store, async (method, id) => {
    if (method === "open" && id === "durable-a-events") await reading;
  });
  const open = async (store: SessionStore) => {
    const engine = new InProcessEngine({ store, pollMs: 5 });
    const workflow = engine.register("publish", async (steps) => {
      await steps.publish("one");
      await steps.waitFor("go");
      await steps.publish("two");
      await steps.run("published", () => published.resolve());
      return await steps.waitFor("end");
    });
    await engine.start();
    return { engine, workflow };
  };
  const published = createDeferred<void>();
  const first = await open(store);
  await first.workflow.start(null, { id: "a" });
  await first.engine.getRun("a").events()[Symbol.asyncIterator]().next();
  await first.engine.close({ graceMs: 0 });

  const released = createDeferred<void>();
  reading = released.promise;
  const { engine } = await open(delayed);
  await engine.getRun("a").signal("go");
  await published.promise;
  await engine.close({ graceMs: 0 });
  released.resolve();
  // Events that waited would be stored now.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await (await store.open("durable-a-events")).close();
  const next = await open(store);
  const run = next.engine.getRun("a");
  await run.signal("end", "ended");
  assertEquals(await run.result(), "ended");
  const events = await run.readEvents();
  assertEquals(events.map((published) => "event" in published && published.event), ["one", "two"]);
  await next.engine.close();
});

Deno.test("InProcessEngine: a run that ends while it is started again is not executed twice", async () => {
  const delayed = openDelayed("create", "durable-a-run");
  const { engine, workflow, create, requested, released, count } = delayed;
  const other = create();
  await engine.start();
  await other.engine.start();
  const starting = workflow.start(null, { id: "a" });
  await requested.promise;
  const run = await other.workflow.start(null, { id: "a" });
  await run.signal("go", "first");
  assertEquals(await run.result(), "first");
  await other.engine.close();
  released.resolve();
  assertEquals(await (await starting).result(), "first");
  await engine.close();
  assertEquals(count(), 1);
});

Deno.test("InProcessEngine: the events of a run end when the engine was closed", async () => {
  const { engine, workflow } = openDelayed("none", "none");
  await engine.start();
  const run = await workflow.start(null, { id: "a" });
  await engine.close({ graceMs: 0 });
  const { done } = await run.events()[Symbol.asyncIterator]().next();
  assertEquals(done, true);
});

Deno.test("InProcessEngine: the result of a run that another process continues rejects when the engine was closed", async () => {
  const { engine, workflow } = openDelayed("none", "none");
  await engine.start();
  const run = await workflow.start(null, { id: "a" });
  const before = assertRejects(() => run.result(), BadRequestError, "The engine was closed");
  await engine.close({ graceMs: 0 });
  await before;
  await assertRejects(() => run.result(), BadRequestError, "The engine was closed");
});

Deno.test("InProcessEngine: a run that only waits does not hold up close()", async () => {
  const { engine, workflow, store } = openDelayed("none", "none");
  await engine.start();
  await workflow.start(null, { id: "a" });
  // The step begins to wait.
  await new Promise((resolve) => setTimeout(resolve, 10));
  const timer = new AbortController();
  const limit = realSleep(20_000, timer.signal).then(() => Promise.reject(new Error("held up")));
  limit.catch(() => {});
  await Promise.race([engine.close({ graceMs: 60_000 }), limit]);
  timer.abort();
  await assertUnlocked(store);
});

Deno.test("InProcessEngine: the status of a run that ends while it is looked up is that of its end", async () => {
  const delayed = openDelayed("open", "durable-a-run");
  const { engine, create, requested, released } = delayed;
  const other = create();
  await other.engine.start();
  const run = await other.workflow.start(null, { id: "a" });
  const status = engine.getRun("a").status();
  await requested.promise;
  await run.signal("go", "gone");
  await run.result();
  await other.engine.close();
  released.resolve();
  assertEquals(await status, "completed");
});

Deno.test("InProcessEngine: start() after close() rejects, and so does one that is interrupted by it", async () => {
  const engine = new InProcessEngine({ store: new InMemorySessionStore() });
  const interrupted = assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
  await engine.close();
  await interrupted;
  await assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
});

Deno.test("InProcessEngine: two calls of close() end with the steps, and a later one may have a shorter time for them", async () => {
  const hourMs = 3_600_000;
  for (const graceMs of [hourMs, 0]) {
    const engine = new InProcessEngine({ store: new InMemorySessionStore() });
    const began = createDeferred<void>();
    const ending = createDeferred<void>();
    const workflow = engine.register("slow", (steps) =>
      steps.run("slow", async () => {
        began.resolve();
        await ending.promise;
      }));
    await engine.start();
    await workflow.start(null);
    await began.promise;
    const closing = [engine.close({ graceMs: hourMs }), engine.close({ graceMs })];
    if (graceMs > 0) ending.resolve();
    await withDeadline(Promise.all(closing));
  }
});

Deno.test("InProcessEngine: the time of a reply is that of the clock of the engine", async () => {
  let time = 1_000;
  const slept: number[] = [];
  const sleep = async (milliseconds: number, signal?: AbortSignal) => {
    slept.push(milliseconds);
    time += 1;
    await realSleep(1, signal);
  };
  const store = new InMemorySessionStore();
  await using engine = new InProcessEngine({ store, now: () => time, sleep });
  const workflow = engine.register("chat", async (steps) => {
    const streamFn = scriptedStream([reply("Hello")]);
    await durableAgent({ model: "any/model", streamFn }, steps).prompt("Hi");
    await steps.sleep("long", 60_000);
    return steps.now();
  });
  await engine.start();
  assertLess(await (await workflow.start(null)).result(), 2_000);
  assertEquals(slept.filter((milliseconds) => milliseconds > 60_000), []);
});

Deno.test("InProcessEngine: a closed engine records no message", async () => {
  const store = new InMemorySessionStore();
  const engine = new InProcessEngine({ store });
  const workflow = engine.register("wait", (steps) => steps.waitFor("go"));
  await engine.start();
  const run = await workflow.start(null, { id: "a" });
  await engine.close();
  await assertRejects(() => run.signal("go"), BadRequestError, "The engine was closed");
  await assertRejects(() => store.open("durable-a-inbox", { access: "read" }), Error, "a-inbox");
});

Deno.test("InProcessEngine: a run that uses an engine that was closed fails, and is not executed again and again", async () => {
  const other = new InProcessEngine({ store: new InMemorySessionStore() });
  const called = other.register("called", () => null);
  await other.start();
  await other.close();
  const engine = new InProcessEngine({ store: new InMemorySessionStore(), pollMs: 1 });
  const workflow = engine.register("calling", async (steps) => {
    await steps.run("start", () => called.start(null).then(() => null));
  });
  await engine.start();
  const run = await workflow.start(null);
  await assertRejects(() => withDeadline(run.result()), BadRequestError, "The engine was closed");
  await engine.close();
});

Deno.test("InProcessEngine: close() ends the waits for sessions that another process has open", async () => {
  const storage = createMemoryStorage();
  const { lease } = storage;
  const refused = new Set<string>();
  storage.lease = async (id, request) => {
    const result = await lease.call(storage, id, request);
    if (result.type === "refused") refused.add(id);
    return result;
  };
  const other = storeFrom(storage);
  const engine = new InProcessEngine({ store: storeFrom(storage) });
  const workflow = engine.register("wait", (steps) => steps.waitFor("go"));
  await engine.start();
  await workflow.start(null, { id: "active" });
  await using _run = await other.create({ id: "durable-new-run" });
  await using _inbox = await other.create({ id: "durable-active-inbox" });
  const waiting = [
    workflow.start(null, { id: "new" }),
    engine.getRun("active").signal("go"),
  ].map((wait) => wait.catch(getErrorMessage));
  await waitUntil(() => refused.size === 2);
  await engine.close();
  assertEquals(await withDeadline(Promise.all(waiting)), [
    "The engine was closed",
    "The engine was closed",
  ]);
});

Deno.test("InProcessEngine: a message that has ended its run before the store confirms it is no error", async () => {
  const storage = createMemoryStorage();
  await using runner = new InProcessEngine({ store: storeFrom(storage), pollMs: 5 });
  const workflow = runner.register("wait", (steps) => steps.waitFor("go"));
  await runner.start();
  const run = await workflow.start(null, { id: "a" });
  let time = Date.now();
  const now = () => time;
  const { append } = storage;
  storage.append = async (id, request) => {
    const isAppended = await append.call(storage, id, request);
    if (request.entries.some(({ line }) => line.includes("durable_message"))) {
      await run.result();
      time += 2_000;
    }
    return isAppended;
  };
  await using sender = new InProcessEngine({ store: storeFrom(storage), pollMs: 60_000, now });
  await sender.start();
  await withDeadline(sender.getRun("a").signal("go", "gone"));
  assertEquals(await run.result(), "gone");
});

Deno.test("InProcessEngine: close() ends a start to which the store gives no answer", async () => {
  using _timers = speedUpTimers(100);
  const storage = createMemoryStorage();
  storage.list = () => new Promise(() => {});
  const engine = new InProcessEngine({ store: storeFrom(storage) });
  const starts = [engine.start(), engine.start()];
  const rejected = starts.map((start) => assertRejects(() => start, EngineClosedError));
  await withDeadline(engine.close());
  await withDeadline(Promise.all(rejected));
});
