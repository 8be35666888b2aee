import { assertEquals } from "@std/assert";
import { createDeferred } from "../../src/core/deferred.ts";
import { getErrorMessage } from "../../src/core/errors.ts";
import type { SessionStore } from "../../src/core/session.ts";
import { InProcessEngine } from "../../src/durable/mod.ts";
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
