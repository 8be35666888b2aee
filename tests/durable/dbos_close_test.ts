import { assert, assertEquals, assertRejects } from "@std/assert";
import type { DurableRun } from "../../src/core/durable/durable_engine.ts";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { withDeadline } from "../deadline.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";

Deno.test("DbosEngine: close() ends a start that waits for a server that does not answer", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const engine = new DbosEngine({
    databaseUrl: `postgres://app@127.0.0.1:${listener.addr.port}/a`,
  });
  const started = assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
  using _connection = await accepted;
  await engine.close();
  await started;
});

Deno.test({
  name: "DbosEngine: a second close() waits for the steps as the first one does",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const engine = new DbosEngine({ databaseUrl: server.url });
    const began = createDeferred<void>();
    const ending = createDeferred<void>();
    let hasEnded = false;
    const workflow = engine.register("slow", (steps) =>
      steps.run("slow", async () => {
        began.resolve();
        await ending.promise;
        hasEnded = true;
      }));
    await engine.start();
    await workflow.start(null);
    await began.promise;
    const closing = [engine.close(), engine.close().then(() => hasEnded)];
    ending.resolve();
    assertEquals(await Promise.all(closing), [undefined, true]);
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: a start that fails after it has connected leaves neither a lock nor an engine",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    await server.sql("CREATE ROLE limited LOGIN");
    await server.sql("GRANT CREATE ON DATABASE postgres TO limited");
    await server.sql("CREATE SCHEMA dbos");
    const databaseUrl = new URL(server.url);
    databaseUrl.searchParams.set("user", "limited");
    const executorId = "worker";
    const limited = new DbosEngine({ databaseUrl: databaseUrl.href, executorId });
    await assertRejects(() => limited.start(), Error, "permission denied for schema dbos");
    const engine = new DbosEngine({ databaseUrl: server.url, executorId });
    await engine.start();
    await engine.close();
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: a run is started when the start of the engine has ended",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const engine = new DbosEngine({ databaseUrl: server.url });
    const workflow = engine.register("work", () => "done");
    const started = engine.start();
    // At each moment of the start.
    const runs: Promise<DurableRun<string>>[] = [];
    const timer = setInterval(() => runs.push(workflow.start(null)), 10);
    const missing = await engine.getRun("missing").status();
    await started;
    clearInterval(timer);
    assert(runs.length > 2);
    for (const run of runs) assertEquals(await (await run).result(), "done");
    assertEquals(missing, undefined);
    await engine.close();
    await assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
    const run = engine.getRun("missing");
    await assertRejects(() => run.readEvents(), BadRequestError, "The engine was closed");
    await assertRejects(() => run.pendingApprovals(), BadRequestError, "The engine was closed");
    const next = await run.events({ after: "checkpoint" })[Symbol.asyncIterator]().next();
    assertEquals(next, { done: true, value: undefined });
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: close() ends a start that waits for that of another worker",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const countLocks = async (where: string) => {
      const [row] = await server.sql(
        `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND granted AND ${where}`,
      );
      return row?.["count"];
    };
    const launch = "hashtextextended('swink_durable launch', 0)";
    const isLaunch = `((classid::bigint << 32) | objid::bigint) = ${launch}`;
    const launching = assertRejects(() =>
      server.sql(`SELECT pg_advisory_lock(${launch}), pg_sleep(600)`)
    );
    while (await countLocks(isLaunch) === 0);
    const engine = new DbosEngine({ databaseUrl: server.url });
    const started = assertRejects(() => engine.start(), BadRequestError, "The engine was closed");
    // The lock of this worker comes before that of the launch.
    while (await countLocks("true") === 1);
    await withDeadline(engine.close());
    await started;
    assertEquals(await countLocks(isLaunch), 1);
    await server.sql(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE ${isLaunch}`);
    await launching;
    const next = new DbosEngine({ databaseUrl: server.url });
    await next.start();
    await next.close();
    await server.stop();
  },
});

Deno.test({
  name: "DbosEngine: a second close() may have a shorter time for the steps",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const engine = new DbosEngine({ databaseUrl: server.url });
    const began = createDeferred<void>();
    const workflow = engine.register("slow", (steps) =>
      steps.run("slow", async () => {
        began.resolve();
        await createDeferred<never>().promise;
      }));
    await engine.start();
    await workflow.start(null);
    await began.promise;
    const closed = [engine.close({ graceMs: 3_600_000 }), engine.close({ graceMs: 0 })];
    await withDeadline(Promise.all(closed));
    await server.stop();
  },
});

Deno.test({
  name:
    "DbosEngine: close() waits for a short time only for a server that does not store the events",
  ignore: POSTGRES_DIRECTORY === undefined,
  fn: async () => {
    const server = await startPostgres();
    const engine = new DbosEngine({ databaseUrl: server.url });
    const began = createDeferred<void>();
    const stopped = createDeferred<void>();
    const published = createDeferred<void>();
    const workflow = engine.register("work", (steps) =>
      steps.run("work", async () => {
        began.resolve();
        await stopped.promise;
        await steps.publish("late");
        published.resolve();
        await createDeferred<never>().promise;
      }));
    await engine.start();
    await workflow.start(null);
    await began.promise;
    await server.stop();
    stopped.resolve();
    await published.promise;
    // The attempts to store it, and to repeat that, would take longer.
    await withDeadline(engine.close({ graceMs: 0 }));
  },
});

Deno.test("DbosEngine: the events of a run are refused before the start of the engine", async () => {
  const engine = new DbosEngine({ databaseUrl: "postgres://app@127.0.0.1:1/a" });
  const run = engine.getRun("a");
  const hint = "Call start() of the engine first";
  await assertRejects(() => run.readEvents(), BadRequestError, hint);
  const reader = run.events()[Symbol.asyncIterator]();
  await assertRejects(() => reader.next(), BadRequestError, hint);
});
