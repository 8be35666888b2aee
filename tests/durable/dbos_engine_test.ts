import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { testDurableAgent } from "./agent_scenarios.ts";
import { testDurableEngine } from "../../src/testing/durable_conformance.ts";
import { POSTGRES_DIRECTORY, startPostgres } from "../memory/postgres_server.ts";

const server = POSTGRES_DIRECTORY === undefined ? undefined : await startPostgres();
Deno.test.afterAll(() => server?.stop());
const databaseUrl = server?.url ?? "";

const register = (name: string, fn: () => void | Promise<void>) =>
  Deno.test({ name: `DbosEngine: ${name}`, ignore: !server, fn });
const createFixture = () => ({
  createEngine: () => new DbosEngine({ databaseUrl, recoveryMs: 50 }),
});

testDurableEngine(register, createFixture);
testDurableAgent(register, createFixture);
