import { assertEquals, assertRejects } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import { EngineClosedError } from "../../src/core/durable/engine_closed_error.ts";
import { SessionError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { realSleep } from "../../src/core/ports/ports.ts";
import { InProcessEngine } from "../../src/durable/mod.ts";
import { createMemoryStorage, type EntryStorage, storeFrom } from "../../src/memory/mod.ts";
import { withDeadline } from "../deadline.ts";
import { speedUpTimers } from "../fast_timers.ts";

type Intercept = (method: keyof EntryStorage, id: unknown) => Promise<void> | void;

/** Opens an engine over a storage, whose calls are intercepted; the run of the workflow publishes an event. */
function openEngine(
  storage: EntryStorage,
  intercept: Intercept = () => {},
  now: () => number = Date.now,
) {
  let attempts = 0;
  const intercepted = new Proxy(storage, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        await intercept(name as keyof EntryStorage, args[0]);
        return await Reflect.apply(member, target, args);
      };
    },
  });
  const store = storeFrom(intercepted, { owner: "test", now });
  const engine = new InProcessEngine({ store, pollMs: 5 });
  const workflow = engine.register("publish", async (steps, signal: string | null) => {
    attempts++;
    await steps.publish("one");
    await steps.run("step", () => 1);
    if (signal !== null) await steps.waitFor(signal);
    return "done";
  });
  const readEvents = async () =>
    (await engine.getRun("a").readEvents()).map((item) => "event" in item ? item.event : item.type);
  return { engine, workflow, readEvents, store, count: () => attempts };
}

/** Fails with the error of a storage. */
function fail(): never {
  throw new Error("unavailable");
}

/** Waits for some looks of an engine into its store. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 30));
}

Deno.test("InProcessEngine: a run refuses messages when its inbox can be closed, if it cannot at first", async () => {
  let failures = 0;
  const { engine } = openEngine(createMemoryStorage(), (method, id) => {
    if (method === "append" && id === "durable-a-inbox" && failures++ === 0) fail();
  });
  const workflow = engine.register("close", async (steps) => await steps.refuseMessages());
  await engine.start();
  const run = await workflow.start(null, { id: "a" });
  assertEquals(await withDeadline(run.result()), true);
  assertEquals(failures, 2);
  await engine.close();
});

Deno.test("InProcessEngine: a run whose session could not be deleted at its end is not executed again", async () => {
  let failures = 0;
  const storage = createMemoryStorage();
  const { engine, workflow, store, count } = openEngine(storage, (method, id) => {
    if (method === "delete" && id === "durable-a-run" && failures++ === 0) fail();
  });
  await engine.start();
  const run = await workflow.start(null, { id: "a" });
  assertEquals(await run.result(), "done");
  await pause();
  await engine.close();
  assertEquals([count(), failures > 1], [1, true]);
  assertEquals(await store.list({ metadata: { durableState: "active" } }), []);
});

Deno.test("InProcessEngine: a run is continued after a failure when its events are stored, which are not stored twice", async () => {
  const failed = createDeferred<void>();
  const released = createDeferred<void>();
  let appends = 0;
  const { engine, workflow, readEvents, count } = openEngine(
    createMemoryStorage(),
    async (method, id) => {
      if (method !== "append") return;
      if (id === "durable-a-events") await released.promise;
      if (id !== "durable-a-run" || ++appends !== 2) return;
      failed.resolve();
      fail();
    },
  );
  await engine.start();
  const run = await workflow.start(null, { id: "a" });
  await failed.promise;
  await pause();
  assertEquals(count(), 1);
  released.resolve();
  assertEquals(await run.result(), "done");
  assertEquals([count(), await readEvents()], [2, ["one"]]);
  await engine.close();
});

Deno.test("InProcessEngine: a run that one process cannot record is continued by another one with its events", async () => {
  const storage = createMemoryStorage();
  let appends = 0;
  const first = openEngine(storage, (method, id) => {
    if (method === "append" && id === "durable-a-run" && ++appends > 1) fail();
    // This process does not get the run again.
    if (method === "list" && appends > 1) fail();
  });
  await first.engine.start();
  await first.workflow.start(null, { id: "a" });
  await pause();
  const second = openEngine(storage);
  await second.engine.start();
  assertEquals(await second.engine.getRun("a").result(), "done");
  assertEquals(await second.readEvents(), ["one"]);
  for (const { engine } of [second, first]) await engine.close();
});

Deno.test("InProcessEngine: a start of a run that another process has left does not lock it", async () => {
  const storage = createMemoryStorage();
  const first = openEngine(storage);
  let isListing = true;
  const second = openEngine(storage, (method) => {
    if (method === "list" && !isListing) fail();
  });
  await second.engine.start();
  isListing = false;
  await first.engine.start();
  await first.workflow.start("go", { id: "a" });
  await first.engine.close({ graceMs: 0 });
  const run = await second.workflow.start("go", { id: "a" });
  isListing = true;
  await run.signal("go");
  assertEquals([await run.result(), second.count()], ["done", 1]);
  await second.engine.close();
});

Deno.test("InProcessEngine: a start is an error when another process has the session of the run open and does not start it", async () => {
  using _timers = speedUpTimers(10_000);
  const storage = createMemoryStorage();
  const owner = { pid: 1, since: 0, heartbeat: Date.now() };
  await storage.lease("durable-r-run", { token: "other", owner, durationMs: Infinity });
  const engine = new InProcessEngine({ store: storeFrom(storage), pollMs: 100_000_000 });
  const workflow = engine.register("work", () => "done");
  await engine.start();
  await assertRejects(
    () => workflow.start(null, { id: "r" }),
    SessionError,
    'The run "r" was not started',
  );
  await engine.close();
});

Deno.test("InProcessEngine: the result of a run does not wait for that of one whose outcome cannot be read", async () => {
  const storage = createMemoryStorage();
  const first = openEngine(storage);
  let isFailing = false;
  const second = openEngine(storage, (method, id) => {
    if (isFailing && method === "load" && id === "durable-a-end") fail();
  });
  for (const { engine } of [first, second]) await engine.start();
  for (const id of ["a", "b"]) await first.workflow.start("go", { id });
  const results = ["a", "b"].map((id) => second.engine.getRun(id).result());
  await pause();
  isFailing = true;
  for (const id of ["a", "b"]) await first.engine.getRun(id).signal("go");
  assertEquals(await results[1], "done");
  isFailing = false;
  assertEquals(await results[0], "done");
  for (const { engine } of [first, second]) await engine.close();
});

Deno.test("InProcessEngine: the events of a run that has ended are not locked by its process", async () => {
  const storage = createMemoryStorage();
  const { engine, workflow, store } = openEngine(storage);
  await engine.start();
  await (await workflow.start(null, { id: "a" })).result();
  await (await store.open("durable-a-events")).close();
  await engine.close();
});

Deno.test("InProcessEngine: the events of a run whose outcome an earlier process could not record are not locked", async () => {
  const storage = createMemoryStorage();
  const failed = createDeferred<void>();
  const first = openEngine(storage, (_, id) => {
    if (id !== "durable-a-end" || first.count() === 0) return;
    failed.resolve();
    fail();
  });
  await first.engine.start();
  await first.workflow.start(null, { id: "a" });
  await withDeadline(failed.promise);
  await first.engine.close();
  const next = openEngine(storage);
  await next.engine.start();
  assertEquals(await withDeadline(next.engine.getRun("a").result()), "done");
  await (await next.store.open("durable-a-events")).close();
  assertEquals(await next.readEvents(), ["one"]);
  await next.engine.close();
});

async function takeOver({ isPublished }: { readonly isPublished: boolean }): Promise<void> {
  const storage = createMemoryStorage();
  const { engine, workflow } = openEngine(storage);
  const working = createDeferred<void>();
  const released = createDeferred<void>();
  const work = engine.register("work", async (steps) => {
    if (isPublished) await steps.publish("one");
    await steps.run("work", async () => {
      working.resolve();
      await released.promise;
      await steps.publish("late");
    });
  });
  await engine.start();
  await work.start(null, { id: "a" });
  await working.promise;
  // The leases of the first process have ended, as while its machine was suspended.
  const next = openEngine(storage, () => {}, () => Date.now() + 60_000);
  next.engine.register("work", async (steps) => {
    if (isPublished) await steps.publish("one");
    await steps.run("work", () => steps.publish("taken over"));
    await steps.waitFor("go");
  });
  await next.engine.start();
  while (!(await next.readEvents()).includes("taken over")) await pause();
  released.resolve();
  // It would wait for its lock of the events for at least twice as long.
  await withDeadline((await workflow.start(null, { id: "b" })).result(), 30_000);
  await withDeadline(engine.close(), 30_000);
  await next.engine.getRun("a").signal("go");
  await next.engine.getRun("a").result();
  assertEquals(await next.readEvents(), [...isPublished ? ["one"] : [], "taken over"]);
  await next.engine.close();
}

Deno.test("InProcessEngine: a run that another process has taken over does not hold up the other runs and close()", async () => {
  await takeOver({ isPublished: true });
});

Deno.test("InProcessEngine: nor does one that has published nothing before that", async () => {
  await takeOver({ isPublished: false });
});

Deno.test("InProcessEngine: a process that was suspended executes no step that another process has recorded", async () => {
  const storage = createMemoryStorage();
  let time = Date.now();
  const now = () => time;
  const suspended = createDeferred<void>();
  const continued = createDeferred<void>();
  const executed: string[] = [];
  const open = (name: string, pause: () => Promise<void>, now: () => number) => {
    const engine = new InProcessEngine({
      store: storeFrom(storage, { owner: name, now }),
      pollMs: 5,
      now,
    });
    const workflow = engine.register("work", async (steps) => {
      await steps.run("zero", () => null);
      // A first look whether this process still has the run.
      time += 2_000;
      await steps.run("one", () => executed.push(`${name} one`));
      await pause();
      await steps.all([
        { name: "two", execute: () => executed.push(`${name} two`) },
        { name: "three", execute: () => executed.push(`${name} three`) },
      ]);
    });
    return { engine, workflow };
  };
  const first = open("first", () => {
    suspended.resolve();
    return continued.promise;
  }, now);
  await first.engine.start();
  await first.workflow.start(null, { id: "a" });
  await suspended.promise;
  time += 60_000;
  const next = open("next", () => Promise.resolve(), now);
  await next.engine.start();
  await withDeadline(next.engine.getRun("a").result());
  continued.resolve();
  await withDeadline(first.engine.getRun("a").result());
  await first.engine.close();
  await next.engine.close();
  assertEquals(executed, ["first one", "next two", "next three"]);
});

Deno.test("InProcessEngine: a process that was suspended while it sent a message gets an error if the run has ended", async () => {
  const storage = createMemoryStorage();
  let time = Date.now();
  const now = () => time;
  const options = { now, startInterval: () => () => {} };
  const runner = new InProcessEngine({ store: storeFrom(storage, options), pollMs: 5, now });
  const workflow = runner.register("work", async (steps) => {
    await steps.waitFor("end");
    while (!await steps.refuseMessages()) await steps.run("wait", () => null);
  });
  await runner.start();
  const run = await workflow.start(null, { id: "a" });
  const suspended = createDeferred<void>();
  const continued = createDeferred<void>();
  let renew = () => {};
  let hasInbox = false;
  const slow = new Proxy(storage, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        const answer = await member.apply(target, args);
        if (name === "lease" && args[0] === "durable-a-inbox") hasInbox = true;
        // It has read that the run has not ended.
        if (name === "load" && args[0] === "durable-a-end" && hasInbox) {
          suspended.resolve();
          await continued.promise;
        }
        return answer;
      };
    },
  });
  const startInterval = (_milliseconds: number, run: () => void) => {
    renew = run;
    return () => {};
  };
  const sender = new InProcessEngine({
    store: storeFrom(slow, { now, startInterval }),
    pollMs: 60_000,
    now,
  });
  sender.register("other", () => Promise.resolve(null));
  await sender.start();
  const sending = assertRejects(() => sender.getRun("a").steer("Hello"), Error, "it has ended");
  await withDeadline(suspended.promise);
  time += 60_000;
  await run.signal("end");
  await withDeadline(run.result());
  renew();
  await pause();
  continued.resolve();
  await withDeadline(sending);
  await sender.close();
  await runner.close();
});

Deno.test("InProcessEngine: a run that waits in a process whose lock has ended gets the outcome of another process", async () => {
  const storage = createMemoryStorage();
  const first = openEngine(storage);
  await first.engine.start();
  const result = (await first.workflow.start("go", { id: "a" })).result();
  // Its look for the outcome must come before the run has ended, and the run must wait for the message.
  while ((await first.readEvents()).length === 0) await pause();
  await pause();
  const next = openEngine(storage, () => {}, () => Date.now() + 60_000);
  await next.engine.start();
  await next.engine.getRun("a").signal("go");
  assertEquals(await withDeadline(next.engine.getRun("a").result()), "done");
  assertEquals(await withDeadline(result), "done");
  await first.engine.close();
  await next.engine.close();
});

Deno.test("InProcessEngine: events that a process could not store do not follow those of the process that has ended the run", async () => {
  const storage = createMemoryStorage();
  const stored = createDeferred<void>();
  let isReachable = true;
  const first = openEngine(storage, (method, id) => {
    if (!isReachable) fail();
    if (method === "release" && id === "durable-a-events") stored.resolve();
  });
  const work = first.engine.register("work", async (steps) => {
    isReachable = false;
    await steps.publish("one");
    await steps.waitFor("go");
  });
  const next = openEngine(storage, () => {}, () => Date.now() + 60_000);
  next.engine.register("work", (steps) => steps.publish("one"));
  await first.engine.start();
  await work.start(null, { id: "a" });
  await next.engine.start();
  await withDeadline(next.engine.getRun("a").result());
  isReachable = true;
  await withDeadline(stored.promise);
  await first.engine.close();
  assertEquals(await next.readEvents(), ["one"]);
  await next.engine.close();
});

Deno.test("InProcessEngine: close() ends while a run waits for events that cannot be stored", async () => {
  const storage = createMemoryStorage();
  const failed = createDeferred<void>();
  let isReachable = true;
  const { engine } = openEngine(storage, (_, id) => {
    if (isReachable) return;
    if (id === "durable-a-events") failed.resolve();
    fail();
  });
  const work = engine.register("work", async (steps) => {
    await steps.run("step", () => 1);
    isReachable = false;
    await steps.publish("one");
  });
  await engine.start();
  await work.start(null, { id: "a" });
  await withDeadline(failed.promise);
  await withDeadline(engine.close());
  isReachable = true;
  const next = openEngine(storage, () => {}, () => Date.now() + 60_000);
  next.engine.register("work", (steps) => steps.publish("one"));
  await next.engine.start();
  await withDeadline(next.engine.getRun("a").result());
  assertEquals(await next.readEvents(), ["one"]);
  await next.engine.close();
});

Deno.test("InProcessEngine: close() ends, and so do the calls of the application, while the store gives no answer", async () => {
  using _timers = speedUpTimers(100);
  const storage = createMemoryStorage();
  let isAnswering = true;
  const answering = new Proxy(storage, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target);
      if (typeof method !== "function") return method;
      return async (...args: unknown[]) => {
        if (!isAnswering) await new Promise(() => {});
        return await method.apply(target, args);
      };
    },
  });
  const engine = new InProcessEngine({ store: storeFrom(answering) });
  const begun = createDeferred<void>();
  const workflow = engine.register("work", async (steps) => {
    begun.resolve();
    await steps.waitFor("end");
  });
  await engine.start();
  const run = await workflow.start(null);
  const ended = assertRejects(() => run.result(), EngineClosedError);
  await withDeadline(begun.promise);
  isAnswering = false;
  const calls = [run.result(), run.status(), run.signal("end"), workflow.start(null)];
  const rejected = Promise.all(calls.map((call) => assertRejects(() => call, EngineClosedError)));
  await withDeadline(engine.close());
  await withDeadline(ended);
  await withDeadline(rejected);
});

Deno.test("InProcessEngine: close() waits for a slow store that gives answers, so that no run stays locked", async () => {
  using time = new FakeTime();
  const storage = createMemoryStorage();
  const locked = new Set<string>();
  let releasing: Promise<unknown> = Promise.resolve();
  const { lease, release } = storage;
  storage.lease = async (id, request) => {
    locked.add(id);
    return await lease.call(storage, id, request);
  };
  storage.release = async (id, token) => {
    releasing = releasing.then(() => realSleep(2_000));
    await releasing;
    await release.call(storage, id, token);
    locked.delete(id);
  };
  const engine = new InProcessEngine({ store: storeFrom(storage) });
  const workflow = engine.register("work", (steps) => steps.waitFor("end"));
  await engine.start();
  for (let runs = 0; runs < 6; runs++) await workflow.start(null);
  let isClosed = false;
  const closing = engine.close().then(() => isClosed = true);
  while (!isClosed) await time.tickAsync(500);
  await closing;
  assertEquals(locked, new Set());
});

Deno.test("InProcessEngine: close() does not wait for looks at all runs, of which each may take long", async () => {
  const looked = createDeferred<void>();
  let looks: number | undefined;
  const { engine, workflow } = openEngine(createMemoryStorage(), async (method, id) => {
    if (looks === undefined) return;
    // The runs are left later than the engine could have looked at them.
    if (method === "release") { for (let pauses = 0; pauses < 10; pauses++) await pause(); }
    if (method !== "load" || !`${id}`.endsWith("-inbox")) return;
    looks++;
    looked.resolve();
    await pause();
  });
  await engine.start();
  for (const id of ["a", "b", "c"]) await workflow.start("go", { id });
  await pause();
  looks = 0;
  await looked.promise;
  await withDeadline(engine.close());
  assertEquals(looks, 1);
});
