/**
 * Attaches the tools of a server to many agents and prints how many of them are still referenced; needs
 * `--v8-flags=--expose-gc`.
 *
 * @module
 */

import { Agent } from "../../mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { connectMock, MockServer } from "./mock_server.ts";

const { gc } = globalThis as unknown as { gc: () => void };
const agents: WeakRef<Agent>[] = [];
await using mcp = await connectMock(new MockServer());

async function promptOnce(): Promise<void> {
  const streamFn = scriptedStream([reply("Hello")]);
  const agent = new Agent({ model: "test/model", streamFn, policies: [mcp.policy] });
  agents.push(new WeakRef(agent));
  mcp.attach(agent);
  await agent.prompt("Hello");
}

for (let count = 0; count < 20; count++) await promptOnce();
await new Promise((resolve) => setTimeout(resolve, 0));
gc();
console.log(agents.filter((agent) => agent.deref() !== undefined).length);
