/**
 * Attaches the tools of a server to many agents, to objects with their methods, and to such objects for a time, and prints
 * how many of each are still referenced; needs `--v8-flags=--expose-gc`.
 *
 * @module
 */

import { Agent } from "../../mod.ts";
import { reply, scriptedStream } from "../../src/testing/mod.ts";
import { connectMock, MockServer } from "./mock_server.ts";

const { gc } = globalThis as unknown as { gc: () => void };
const agents: WeakRef<object>[] = [];
const others: WeakRef<object>[] = [];
const detached: WeakRef<object>[] = [];
await using mcp = await connectMock(new MockServer());

async function promptOnce(): Promise<void> {
  const streamFn = scriptedStream([reply("Hello")]);
  const agent = new Agent({ model: "test/model", streamFn, policies: [mcp.policy] });
  agents.push(new WeakRef(agent));
  mcp.attach(agent);
  await agent.prompt("Hello");
}

function attachOther(): { readonly other: WeakRef<object>; readonly detach: () => void } {
  const { state } = new Agent({ model: "test/model", streamFn: scriptedStream([]) });
  const other = { state, setTools: () => {} };
  return { other: new WeakRef(other), detach: mcp.attach(other) };
}

for (let count = 0; count < 20; count++) {
  await promptOnce();
  others.push(attachOther().other);
  const { other, detach } = attachOther();
  detach();
  detached.push(other);
}
await new Promise((resolve) => setTimeout(resolve, 0));
gc();
const counts = [agents, others, detached].map((references) =>
  references.filter((reference) => reference.deref() !== undefined).length
);
console.log(counts.join(" "));
