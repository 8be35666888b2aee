/**
 * A server whose model writes the time with each part of its reply, as a process for `server_bench.ts`.
 *
 * The arguments are the store, `memory` or `file`, or the URL of a database for durable runs, the number of parts of a
 * reply, and the pause between them in milliseconds. Prints the port.
 *
 * @module
 */

import { Agent, type StreamFn } from "../mod.ts";
import { DbosEngine } from "../src/durable/dbos/mod.ts";
import { durableAgent } from "../src/durable/mod.ts";
import { FileSessionStore, InMemorySessionStore } from "../src/memory/mod.ts";
import { PostgresSessionStore } from "../src/memory/postgres/mod.ts";
import { durableRunner } from "../src/server/durable/mod.ts";
import { type AgentServerOptions, createAgentServer } from "../src/server/mod.ts";

const [storeName = "memory", partCount = "50", pauseMs = "100"] = Deno.args;

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };

const streamFn: StreamFn = async function* ({ signal }) {
  yield { type: "start" };
  yield { type: "text_start", contentIndex: 0 };
  // The runs begin together, and their parts are spread evenly.
  await sleep(Math.random() * Number(pauseMs));
  for (let part = 0; part < Number(partCount) && !signal.aborted; part++) {
    await sleep(Number(pauseMs));
    const delta = `${performance.timeOrigin + performance.now()} `;
    yield { type: "text_delta", contentIndex: 0, delta };
  }
  yield { type: "text_end", contentIndex: 0 };
  yield { type: "done", stopReason: "stop", usage };
};

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const directory = await Deno.makeTempDir();

/** Returns the options that select where the runs are executed, and a function that ends them. */
async function createBackend(): Promise<
  readonly [Pick<AgentServerOptions, "store" | "createAgent" | "runner">, () => Promise<void>]
> {
  const model = "bench/model";
  if (!storeName.startsWith("postgres")) {
    const store = storeName === "file"
      ? new FileSessionStore({ directory })
      : new InMemorySessionStore();
    return [{ store, createAgent: () => new Agent({ model, streamFn }) }, () => Promise.resolve()];
  }
  const engine = new DbosEngine({ databaseUrl: storeName });
  const store = new PostgresSessionStore({ connection: storeName });
  const runner = durableRunner({
    engine,
    store,
    createAgent: (_session, steps) => durableAgent({ model, streamFn }, steps),
  });
  await engine.start();
  return [{ store, runner }, () => engine.close({ graceMs: 0 })];
}

const [backend, close] = await createBackend();
const agents = createAgentServer({
  ...backend,
  limits: { concurrentRuns: Infinity, requestsPerMinute: Infinity, eventStreams: Infinity },
});
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) },
  agents.fetch,
);

Deno.addSignalListener("SIGTERM", async () => {
  await agents.close({ timeoutMs: 0 });
  await server.shutdown();
  await close();
  await Deno.remove(directory, { recursive: true });
  Deno.exit(0);
});
