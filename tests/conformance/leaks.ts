/**
 * Runs one agent many times and prints how many of the runs are still referenced; needs `--v8-flags=--expose-gc`.
 *
 * @module
 */

import { Agent } from "../../src/agent/agent.ts";
import { defineTool } from "../../src/core/tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

const { gc } = globalThis as unknown as { gc: () => void };
const held: WeakRef<AbortSignal>[] = [];
let script = scriptedStream([]);
const agent = new Agent({
  model: "test/model",
  streamFn: (request) => script(request),
  tools: [
    defineTool({ name: "look", description: "", parameters: {}, execute: () => "a cat" }),
  ],
});

async function once(count: number): Promise<void> {
  const { signal } = new AbortController();
  held.push(new WeakRef(signal));
  script = scriptedStream([reply([toolCall("look")]), reply("Seen")]);
  if (count % 3 === 0) await agent.promptStream("Look", { signal }).cancel();
  else await agent.prompt("Look", { signal });
  agent.setModel("test/model");
}

for (let count = 0; count < 20; count++) await once(count);
await new Promise((resolve) => setTimeout(resolve, 0));
gc();
console.log(held.filter((signal) => signal.deref() !== undefined).length);
