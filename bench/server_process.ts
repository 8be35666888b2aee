/**
 * A server whose model writes the time with each part of its reply, as a process for `server_bench.ts`.
 *
 * The arguments are the store, `memory` or `file`, the number of parts of a reply, and the pause between them in
 * milliseconds. Prints the port.
 *
 * @module
 */

import { Agent, type StreamFn } from "../mod.ts";
import { FileSessionStore, InMemorySessionStore } from "../src/memory/mod.ts";
import { createAgentServer } from "../src/server/mod.ts";

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
const agents = createAgentServer({
  store: storeName === "file" ? new FileSessionStore({ directory }) : new InMemorySessionStore(),
  createAgent: () => new Agent({ model: "bench/model", streamFn }),
  limits: { concurrentRuns: Infinity, requestsPerMinute: Infinity, eventStreams: Infinity },
});
const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) },
  agents.fetch,
);

Deno.addSignalListener("SIGTERM", async () => {
  await agents.close({ timeoutMs: 0 });
  await server.shutdown();
  await Deno.remove(directory, { recursive: true });
  Deno.exit(0);
});
