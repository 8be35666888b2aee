/**
 * A worker with a server that tests kill at random.
 *
 * @module
 */

import { DbosEngine } from "../../src/durable/dbos/mod.ts";
import { PostgresSessionStore } from "../../src/memory/postgres/mod.ts";
import { durableRunner } from "../../src/server/durable/mod.ts";
import { createAgentServer } from "../../src/server/mod.ts";
import { createKillAgent, LEASE_MS } from "../durable/kill_worker.ts";
import { authenticate } from "./server_fixture.ts";

if (import.meta.main) {
  const [url = "", directory = "", worker = "0"] = Deno.args;
  const engine = new DbosEngine({
    databaseUrl: url,
    executorId: `worker-${worker}`,
    recoveryMs: 200,
    maxConnections: 6,
  });
  const store = new PostgresSessionStore({
    connection: url,
    leaseMs: LEASE_MS,
    maxConnections: 4,
    retryMs: 60_000,
  });
  const runner = durableRunner({
    engine,
    store,
    pollMs: 500,
    createAgent: (_session, steps) => createKillAgent(directory, steps),
  });
  await engine.start();
  const server = createAgentServer({
    store,
    runner,
    authenticate,
    limits: { concurrentRuns: 1_000, requestsPerMinute: 1_000_000, eventStreams: 1_000 },
  });
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`ready ${port}`),
  }, server.fetch);
}
