import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { DbosEngine } from "../../src/durable/dbos/mod.ts";
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
