import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { testDurableEngine } from "../../src/testing/durable_conformance.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";

const server = POSTGRES_DIRECTORY === undefined ? undefined : await startPostgres();
Deno.test.afterAll(() => server?.stop());
const databaseUrl = server?.url ?? "";

testDurableEngine(
  (name, fn) => Deno.test({ name: `DbosEngine: ${name}`, ignore: !server, fn }),
  () => ({
    createEngine: () => new DbosEngine({ databaseUrl, recoveryMs: 50 }),
  }),
);
