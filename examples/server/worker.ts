// One server process of the example: sessions in Postgres, a model that needs no key unless MODEL names one.

import { Agent, type StreamFn } from "@swink/agent";
import { PostgresSessionStore } from "@swink/agent/memory/postgres";
import { bearerTokens, createAgentServer } from "@swink/agent/server";

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

const agents = createAgentServer({
  // A session of a process that was killed can be continued by another one after five seconds.
  store: new PostgresSessionStore({ connection: env("DATABASE_URL"), leaseMs: 5_000 }),
  createAgent: () =>
    new Agent(model ? { model } : { model: "example/counting", streamFn: countingModel }),
  authenticate: bearerTokens([{ token: env("TOKEN"), tenant: "example", mayReadMetrics: true }]),
  limits: { concurrentRuns: 500, requestsPerMinute: 100_000, eventStreams: 1_000 },
  pollMs: 500,
});
const server = Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(port),
}, agents.fetch);

Deno.addSignalListener("SIGTERM", async () => {
  await agents.close({ timeoutMs: 10_000 });
  await server.shutdown();
  Deno.exit(0);
});
