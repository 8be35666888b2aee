import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { DurableRun } from "../../src/core/durable/durable_engine.ts";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { BadRequestError, getErrorMessage } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import type { SessionStore } from "../../src/core/sessions/session.ts";
import { RunStore } from "../../src/durable/in_process/run_store.ts";
import { InProcessEngine, workflowTool } from "../../src/durable/mod.ts";
import {
  FileSessionStore,
  InMemorySessionStore,
  SqliteSessionStore,
} from "../../src/memory/mod.ts";
import { testDurableEngine } from "../../src/testing/durable_conformance.ts";
import { testDurableAgent } from "./agent_scenarios.ts";

testDurableAgent(
  (name, fn) => Deno.test(`InProcessEngine: ${name}`, fn),
  () => {
    const store = new InMemorySessionStore();
    return { createEngine: () => new InProcessEngine({ store, pollMs: 10 }) };
  },
);

/** Registers the conformance tests with a store in a temporary directory. */
function testStore(name: string, open: (directory: string) => SessionStore): void {
  testDurableEngine(
    (title, fn) => Deno.test(`InProcessEngine over ${name}: ${title}`, fn),
    () => {
      const directory = Deno.makeTempDirSync();
      const store = open(directory);
      return {
        createEngine: () => new InProcessEngine({ store, pollMs: 10 }),
        dispose: async () => {
          if ("close" in store && typeof store.close === "function") await store.close();
          await Deno.remove(directory, { recursive: true });
        },
      };
    },
  );
}

testStore("files", (directory) => new FileSessionStore({ directory }));
testStore("SQLite", (directory) => new SqliteSessionStore({ path: `${directory}/sessions.db` }));

Deno.test("InProcessEngine: another process sends messages and gets the result", async () => {
  const directory = await Deno.makeTempDir();
  const open = () => {
    const store = new FileSessionStore({ directory });
    const engine = new InProcessEngine({ store, pollMs: 10 });
    return { store, engine, echo: engine.register("echo", (steps) => steps.waitFor("data")) };
  };
  const [first, second] = [open(), open()];
  await first.engine.start();
  await second.engine.start();
  await first.echo.start(null, { id: "shared" });
  const run = second.engine.getRun("shared");
  assertEquals(await run.status(), "running");
  const result = run.result();
  await run.signal("data", { from: "the other process" });
  assertEquals(await result, { from: "the other process" });
  await first.engine.close();
  await second.engine.close();
  assertEquals((await first.store.list()).map(({ metadata }) => metadata), [
    { durableRun: "shared", durableState: "ended" },
  ]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("InProcessEngine: results that are awaited reject when the engine is closed", async () => {
  const engine = new InProcessEngine({ store: new InMemorySessionStore() });
  const started = createDeferred<void>();
  const hang = engine.register("hang", (steps) =>
    steps.run("hang", ({ signal }) => {
      started.resolve();
      return new Promise<null>((resolve) => signal.addEventListener("abort", () => resolve(null)));
    }));
  await engine.start();
  const result = (await hang.start(null)).result().catch(getErrorMessage);
  await started.promise;
  await engine.close({ graceMs: 0 });
  assertEquals(await result, "The engine was closed");
});

Deno.test("InProcessEngine: the end of the engine waits for a look at the store that result() no longer needs", async () => {
  const store = new InMemorySessionStore();
  const engine = new InProcessEngine({ store });
  const [step, look, lookBegun] = [createDeferred(), createDeferred(), createDeferred()];
  const workflow = engine.register("wait", (steps) => steps.run("wait", () => step.promise));
  await engine.start();
  const run = await workflow.start(null, { id: "run" });
  const { open } = store;
  let looks = 0;
  store.open = async (id, options) => {
    // The first look is that for the status of the run.
    if (id === "durable-run-end" && options?.access === "read" && ++looks === 2) {
      lookBegun.resolve();
      await look.promise;
    }
    return await open.call(store, id, options);
  };
  const result = run.result();
  await lookBegun.promise;
  step.resolve();
  assertEquals(await result, null);
  let isClosed = false;
  const closing = engine.close().then(() => isClosed = true);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(isClosed, false);
  look.resolve();
  await closing;
});

Deno.test("InProcessEngine: a message that comes while the run ends leaves nothing in the store", async () => {
  const store = new InMemorySessionStore();
  const runs = new RunStore(store, "durable-");
  const run = await runs.create("run", { workflow: "any", input: null, startedAt: 0 });
  assert(run);
  const send = () => runs.appendMessage("run", { type: "signal", name: "any", data: null });
  await send();
  const { open } = store;
  // The sender has the messages open while the run ends.
  store.open = async (id, options) => {
    const session = await open.call(store, id, options);
    if (id !== "durable-run-inbox" || options?.access === "read") return session;
    store.open = open;
    const { close } = session;
    session.close = async () => {
      await runs.finish("run", run, { type: "completed", value: null });
      await close.call(session);
    };
    return session;
  };
  await send();
  assertEquals((await store.list()).map(({ id }) => id), ["durable-run-end"]);
});

Deno.test("InProcessEngine: outcomes are deleted with deleteAll() of the store", async () => {
  const store = new InMemorySessionStore();
  await using engine = new InProcessEngine({ store, pollMs: 10 });
  const wait = engine.register("wait", (steps) => steps.waitFor("end"));
  await engine.start();
  const ended = await wait.start(null, { id: "ended" });
  const active = await wait.start(null, { id: "active" });
  await ended.signal("end");
  await ended.result();
  const deleted = await store.deleteAll({ metadata: { durableState: "ended" } });
  assertEquals(deleted, ["durable-ended-end"]);
  assertEquals([await ended.status(), await active.status()], [undefined, "running"]);
});

Deno.test("InProcessEngine: a position of events that is none is an error", async () => {
  await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
  const publish = engine.register("publish", (steps) => steps.publish(1));
  await engine.start();
  const run = await publish.start(null);
  await run.result();
  for (const after of [-2, 1.5, NaN, "1"]) {
    const options = { after: after as number };
    await assertRejects(() => run.readEvents(options), BadRequestError, "after must be");
    await assertRejects(async () => await Array.fromAsync(run.events(options)), BadRequestError);
  }
  assertEquals((await run.readEvents({ after: 1 })).length, 0);
});

Deno.test("InProcessEngine: the id of a run is a text without control characters", async () => {
  await using engine = new InProcessEngine({ store: new InMemorySessionStore() });
  const empty = engine.register("empty", () => Promise.resolve(null));
  await engine.start();
  for (const id of ["", "a\0b", "a\nb", "\ud800", "x".repeat(151)]) {
    await assertRejects(
      () => empty.start(null, { id }),
      BadRequestError,
      "The id of a run must be",
    );
  }
  for (const id of ["order/1", "../é", "x".repeat(150)]) {
    assertEquals(await (await empty.start(null, { id })).result(), null);
  }
});

Deno.test("InProcessEngine: a run that is continued while the engine starts can start another one", async () => {
  const directory = await Deno.makeTempDir();
  const open = () => {
    const engine = new InProcessEngine({ store: new FileSessionStore({ directory }), pollMs: 10 });
    const child = engine.register("child", () => "done");
    engine.register("parent", async (steps) => {
      const run = await child.start(null, { id: `${steps.runId}-child` });
      return await run.result();
    });
    return engine;
  };
  const first = new InProcessEngine({ store: new FileSessionStore({ directory }) });
  const waiting = first.register("parent", (steps) => steps.waitFor("never"));
  await first.start();
  const ids = ["a", "b", "c"];
  for (const id of ids) await waiting.start(null, { id });
  await first.close();

  const engine = open();
  await engine.start();
  const results = ids.map((id) => engine.getRun(id).result().catch(getErrorMessage));
  assertEquals(await Promise.all(results), ["done", "done", "done"]);
  await engine.close();
  await Deno.remove(directory, { recursive: true });
});

/** Returns a store whose methods fail when they are selected, as those of a database that is not available. */
function interceptStore(
  store: SessionStore,
  fails: (method: string, id: unknown) => boolean,
): SessionStore {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) =>
        fails(String(name), args[0])
          ? Promise.reject(new Error("unavailable"))
          : Reflect.apply(member, target, args);
    },
  });
}

Deno.test("InProcessEngine: start() can be called again, also if it has failed", async () => {
  const store = new InMemorySessionStore();
  let isAvailable = false;
  const failing = interceptStore(store, (name) => name === "list" && !isAvailable);
  const engine = new InProcessEngine({ store: failing, pollMs: 10 });
  const greet = engine.register("greet", () => "hello");
  await assertRejects(() => engine.start(), Error, "unavailable");
  await assertRejects(() => greet.start(null), BadRequestError, "Call start()");
  isAvailable = true;
  await Promise.all([engine.start(), engine.start()]);
  assertEquals(await (await greet.start(null)).result(), "hello");
  await engine.close();
});

/** Starts a run of a workflow on an engine of its own, and returns its result or the message of its error. */
async function runWorkflow(
  workflow: (steps: DurableSteps) => unknown,
  use: (run: DurableRun) => Promise<void> = () => Promise.resolve(),
): Promise<unknown> {
  await using engine = new InProcessEngine({ store: new InMemorySessionStore(), pollMs: 10 });
  const registered = engine.register("workflow", workflow);
  await engine.start();
  const run = await registered.start(null);
  await use(run);
  return await run.result().catch(getErrorMessage);
}

for (
  const [kind, listener] of Object.entries({
    throws: () => {
      throw new Error("not stored");
    },
    rejects: () => Promise.reject(new Error("not stored")),
  })
) {
  Deno.test(`InProcessEngine: a listener of messages that ${kind} fails its run, which does not hang`, async () => {
    const received = createDeferred<void>();
    const result = await runWorkflow(async (steps) => {
      steps.onMessage(listener);
      const execute = () => received.promise;
      await steps.all([{ name: "a", execute }, { name: "b", execute }]);
      return await steps.run("last", () => "done");
    }, async (run) => {
      await run.steer("Hello");
      received.resolve();
    });
    assertEquals(result, "A listener of the messages of the run has failed: not stored");
  });
}

Deno.test("InProcessEngine: a message that a run could not handle is refused", async () => {
  const result = await runWorkflow((steps) => steps.waitFor("go"), async (run) => {
    const invalid: readonly unknown[] = [
      null,
      { type: "stear" },
      { type: "steer", message: 5 },
      { type: "follow_up", message: { role: "user", content: "text" } },
      { type: "signal", data: 1 },
    ];
    for (const message of invalid) {
      await assertRejects(() => run.send(message as never), BadRequestError);
    }
    await assertRejects(() => run.steer([]), BadRequestError, "no messages");
    await run.signal("go", "gone");
  });
  assertEquals(result, "gone");
});

Deno.test("InProcessEngine: times and options that are none are errors", async () => {
  const sleep = await runWorkflow((steps) => steps.sleep("until", Date.parse("tomorrow")));
  assertEquals(sleep, "The time of sleep() must be a number of milliseconds, not NaN");
  const wait = await runWorkflow((steps) => steps.waitFor("go", { timeoutMs: "5" as never }));
  assertEquals(wait, 'timeoutMs must be a number of milliseconds, not "5"');
  const name = await runWorkflow((steps) => steps.waitFor("go", { timeout: 5 } as never));
  assertEquals(name, 'Unknown option "timeout" of waitFor(): did you mean timeoutMs?');
  const engine = new InProcessEngine({ store: new InMemorySessionStore() });
  const greet = engine.register("greet", () => "hello");
  await engine.start();
  await assertRejects(() => greet.start(null, { runId: "a" } as never), BadRequestError, "runId");
  const tool = { name: "greet", description: "Greets.", workflow: () => "hello" };
  assertThrows(() => workflowTool(tool as never), BadRequestError, "register()");
  await engine.close();
});

Deno.test("InProcessEngine: a workflow that waits for something else than a step does not hold up close()", async () => {
  const store = new InMemorySessionStore();
  const engine = new InProcessEngine({ store, pollMs: 10 });
  const started = createDeferred<void>();
  const stuck = engine.register("stuck", () => {
    started.resolve();
    return new Promise<never>(() => {});
  });
  await engine.start();
  await stuck.start(null, { id: "stuck" });
  await started.promise;
  await engine.close();
  await using next = new InProcessEngine({ store, pollMs: 10 });
  next.register("stuck", () => "continued");
  await next.start();
  assertEquals(await next.getRun("stuck").result(), "continued");
});

Deno.test("InProcessEngine: a run that the store could not read at first is continued, and holds up no other one", async () => {
  const store = new InMemorySessionStore();
  const first = new InProcessEngine({ store });
  const waiting = first.register("greet", (steps) => steps.waitFor("never"));
  await first.start();
  for (const id of ["a", "b"]) await waiting.start(null, { id });
  await first.close();

  // The session of the run is open when its outcome is looked up.
  let isFailing = true;
  const failing = interceptStore(
    store,
    (method, id) => isFailing && method === "open" && id === "durable-a-end",
  );
  await using next = new InProcessEngine({ store: failing, pollMs: 5 });
  next.register("greet", (steps) => `hello ${steps.runId}`);
  await next.start();
  assertEquals(await next.getRun("b").result(), "hello b");
  isFailing = false;
  assertEquals(await next.getRun("a").result(), "hello a");
});

Deno.test("InProcessEngine: a start that cannot delete old events starts the engine", async () => {
  const store = new InMemorySessionStore();
  let lists = 0;
  const failing = interceptStore(store, (method) => method === "list" && ++lists > 1);
  await using engine = new InProcessEngine({ store: failing, pollMs: 10 });
  const greet = engine.register("greet", () => "hello");
  await engine.start();
  assertEquals(await (await greet.start(null)).result(), "hello");
});

/** Cuts the log of a session after its first line, as the end of the process does. */
async function cutSession(directory: string, id: string): Promise<void> {
  const path = `${directory}/${id}.jsonl`;
  const [header] = (await Deno.readTextFile(path)).split("\n");
  await Deno.writeTextFile(path, `${header}\n`);
}

Deno.test("InProcessEngine: an outcome whose record was cut off is recorded again", async () => {
  const directory = await Deno.makeTempDir();
  const store = new FileSessionStore({ directory });
  const metadata = { durableRun: "a", durableState: "ended" };
  const cut = await store.create({ id: "durable-a-end", metadata });
  cut.append({ type: "custom", name: "durable_end", data: {} });
  await cut.close();
  await cutSession(directory, "durable-a-end");
  const engine = new InProcessEngine({ store, pollMs: 10 });
  const greet = engine.register("greet", () => "hello");
  await engine.start();
  const run = await greet.start(null, { id: "a" });
  await run.result();
  await engine.close();
  assertEquals(await run.result(), "hello");
  await Deno.remove(directory, { recursive: true });
});

Deno.test("InProcessEngine: a run whose start was cut off can be started again", async () => {
  const directory = await Deno.makeTempDir();
  const store = new FileSessionStore({ directory });
  const metadata = { durableRun: "order-1", durableState: "active" };
  const cut = await store.create({ id: "durable-order-1-run", metadata });
  cut.append({ type: "custom", name: "durable_start", data: {} });
  await cut.close();
  await cutSession(directory, "durable-order-1-run");
  const engine = new InProcessEngine({ store, pollMs: 10 });
  const greet = engine.register("greet", (_steps, name: string) => `hello ${name}`);
  await engine.start();
  const run = await greet.start("Ada", { id: "order-1" });
  assertEquals(await run.result(), "hello Ada");
  await engine.close();
  await Deno.remove(directory, { recursive: true });
});
