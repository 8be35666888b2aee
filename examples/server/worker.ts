// One server process of the example: sessions and runs in Postgres, a model that needs no key unless MODEL names one.

import type { StreamFn } from "@swink/agent";
import { durableAgent } from "@swink/agent/durable";
import { DbosEngine } from "@swink/agent/durable/dbos";
import { PostgresSessionStore } from "@swink/agent/memory/postgres";
import { bearerTokens, createAgentServer } from "@swink/agent/server";
import { durableRunner } from "@swink/agent/server/durable";

const env = (name: string): string => {
  const value = Deno.env.get(name);
  if (value === undefined) throw new Error(`Set ${name}, or run start.ts`);
  return value;
};
const model = Deno.env.get("MODEL");

/** Answers in twenty parts, one every 50 milliseconds. */
const countingModel: StreamFn = async function* ({ signal }) {
  yield { type: "start" };
  yield { type: "text_start", contentIndex: 0 };
  for (let part = 1; part <= 20 && !signal.aborted; part++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield { type: "text_delta", contentIndex: 0, delta: `${part} ` };
  }
  yield { type: "text_end", contentIndex: 0 };
  const usage = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0, total: 30 };
  yield { type: "done", stopReason: "stop", usage };
};

const databaseUrl = env("DATABASE_URL");
// A session that a killed process was saving can be written again after five seconds.
const store = new PostgresSessionStore({ connection: databaseUrl, leaseMs: 5_000 });
const engine = new DbosEngine({ databaseUrl });
const runner = durableRunner({
  engine,
  store,
  createAgent: (_session, steps) =>
    durableAgent(model ? { model } : { model: "example/counting", streamFn: countingModel }, steps),
});
await engine.start(); // continues the runs of processes that have ended

const agents = createAgentServer({
  store,
  runner,
  authenticate: bearerTokens([{ token: env("TOKEN"), tenant: "example", mayReadMetrics: true }]),
  limits: { concurrentRuns: 500, requestsPerMinute: 100_000, eventStreams: 1_000 },
});
const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(port),
}, agents.fetch);

Deno.addSignalListener("SIGTERM", async () => {
  await agents.close(); // ends the streams; clients connect to the other process
  await server.shutdown();
  await engine.close(); // the other process continues the runs
  await store.close();
  Deno.exit(0);
});
