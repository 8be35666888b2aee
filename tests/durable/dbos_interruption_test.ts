import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { withDeadline } from "../deadline.ts";
import { speedUpTimers } from "../fast_timers.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";
import { PostgresProxy } from "./postgres_proxy.ts";

/** Closes an engine, with less time for its server to answer. */
async function closeSoon(engine: DbosEngine): Promise<void> {
  using _timers = speedUpTimers(20);
  await withDeadline(engine.close({ graceMs: 0 }), 30_000);
}

Deno.test({
  name:
    "DbosEngine: close() ends when Postgres does not answer, and another engine continues the run",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const proxy = new PostgresProxy(server);
    const register = (engine: DbosEngine, execute: () => unknown) =>
      engine.register("work", async (steps) => {
        await steps.run("first", () => null);
        await steps.publish("first");
        await steps.run("second", execute);
        return "done";
      });
    const engine = new DbosEngine({ databaseUrl: proxy.url, recoveryMs: 50 });
    const began = createDeferred<void>();
    const workflow = register(engine, () => {
      began.resolve();
      return createDeferred<never>().promise;
    });
    await engine.start();
    await workflow.start(null, { id: "a" });
    await began.promise;
    proxy.interrupt();
    const run = engine.getRun("a");
    const calls = [run.status(), run.result(), run.signal("b"), run.readEvents()];
    const refused = calls.map((call) =>
      assertRejects(() => call, BadRequestError, "The engine was")
    );
    await closeSoon(engine);
    await withDeadline(Promise.all(refused));
    proxy[Symbol.dispose]();
    await using next = new DbosEngine({ databaseUrl: server.url, recoveryMs: 50 });
    register(next, () => null);
    await next.start();
    assertEquals(await withDeadline(next.getRun("a").result()), "done");
    await next.close();
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: close() ends a start whose server does not answer any more",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const proxy = new PostgresProxy(server);
    const engine = new DbosEngine({ databaseUrl: proxy.url });
    const started = engine.start().then(() => "started", (error) => error);
    // The first connection is that of the locks, the next one that of DBOS.
    while (proxy.accepted < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    proxy.interrupt();
    await closeSoon(engine);
    const error = await started;
    assertEquals([error instanceof BadRequestError, error.message], [
      true,
      "The engine was closed",
    ]);
    proxy[Symbol.dispose]();
    const next = new DbosEngine({ databaseUrl: server.url });
    await next.start();
    await next.close();
    await server.stop();
  },
});
