import { assertEquals } from "@std/assert";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import { InProcessEngine } from "../../src/durable/mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";

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
  return { ...create(delayed), create: () => create(store), requested, released, next, count };
}

Deno.test("InProcessEngine: an engine that is closed while it opens a run leaves it to the next one", async () => {
  const { engine, create, requested, released, next } = openDelayed("open", "durable-a-run");
  const first = create();
  await first.engine.start();
  await first.workflow.start(null, { id: "a" });
  await first.engine.close({ graceMs: 0 });
  const starting = engine.start();
  await requested.promise;
  const closing = engine.close({ graceMs: 0 });
  released.resolve();
  await Promise.all([starting, closing]);
  assertEquals(await next(), ["gone", 1]);
});

Deno.test("InProcessEngine: an engine that is closed while it creates a run leaves it to the next one", async () => {
  const delayed = openDelayed("create", "durable-a-run");
  const { engine, workflow, requested, released, next } = delayed;
  await engine.start();
  const starting = workflow.start(null, { id: "a" });
  await requested.promise;
  const closing = engine.close({ graceMs: 0 });
  released.resolve();
  await Promise.all([starting, closing]);
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
