import { assertEquals } from "@std/assert";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { loadPg, type PgClient } from "../../src/durable/dbos/npm_packages.ts";
import { RunTables } from "../../src/durable/dbos/run_tables.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";

const server = POSTGRES_DIRECTORY === undefined ? undefined : await startPostgres();
Deno.test.afterAll(() => server?.stop());

async function connect(): Promise<{ readonly client: PgClient; readonly ended: Promise<void> }> {
  const { Client } = await loadPg();
  const client = new Client({ connectionString: server?.url });
  const ended = createDeferred<void>();
  client.on("error", () => {});
  client.on("end", () => ended.resolve());
  await client.connect();
  return { client, ended: ended.promise };
}

Deno.test({
  name: "RunTables: a worker takes its lock from a connection that only Postgres holds to be open",
  ignore: !server,
  fn: async () => {
    const tables = new RunTables("reconnected", "swink");
    const first = await connect();
    const second = await connect();
    const setUp = ({ client }: typeof first) =>
      tables.setUp((text, values) => client.query(text, values), "worker");
    try {
      await setUp(first);
      const limit = createDeferred<string>();
      const timer = setTimeout(() => limit.resolve("waits"), 2_000);
      const isSetUp = setUp(second).then(() => "set up", () => "failed");
      const outcome = await Promise.race([isSetUp, limit.promise]);
      clearTimeout(timer);
      assertEquals(outcome, "set up");
      await first.ended;
    } finally {
      await first.client.end().catch(() => {});
      await second.client.end().catch(() => {});
    }
  },
});
