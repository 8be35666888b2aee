// Serves sessions over HTTP: creates one, prompts it, and reads its events until the run ends.

import { Agent } from "@swink/agent";
import { InMemorySessionStore } from "@swink/agent/memory";
import { bearerTokens, createAgentServer } from "@swink/agent/server";
import { reply, scriptedStream } from "@swink/agent/testing";

const token = "example-token-of-acme";
const streamFn = scriptedStream([reply("Hello from a session.")]);
const agents = createAgentServer({
  store: new InMemorySessionStore(),
  createAgent: () => new Agent({ model: "example/scripted", streamFn }),
  authenticate: bearerTokens([{ token, tenant: "acme" }]),
});
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, agents.fetch);

const call = (method: string, path: string, body?: object) =>
  fetch(`http://127.0.0.1:${server.addr.port}/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body ? JSON.stringify(body) : null,
  });

const { id } = await (await call("POST", "sessions", { id: "greeting" })).json();
await (await call("POST", `sessions/${id}/prompt`, { text: "Greet me" })).json();
const events = await call("GET", `sessions/${id}/events?types=entry`);
for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
  for (const [, data = ""] of chunk.matchAll(/^data: (.*)$/gm)) {
    const { type, message } = JSON.parse(data);
    if (type === "message") console.log(message.role, message.content[0].text);
  }
  if (chunk.includes("run_ended")) break;
}
await agents.close();
await server.shutdown();

// Prints:
// user Greet me
// assistant Hello from a session.
