/**
 * Runs one agent many times and prints how many of the runs, and of the messages that they have taken from a queue, are
 * still referenced; needs `--v8-flags=--expose-gc`.
 *
 * @module
 */

import { Agent } from "../../src/agent/agent.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";

const { gc } = globalThis as unknown as { gc: () => void };
const signals: WeakRef<AbortSignal>[] = [];
const queued: WeakRef<object>[] = [];
let script = scriptedStream([]);
const agent = new Agent({
  model: "test/model",
  streamFn: (request) => script(request),
  tools: [
    defineTool({ name: "look", description: "", parameters: {}, execute: () => "a cat" }),
  ],
});

/** Runs the agent once with its own signal, of which only a weak reference is kept. */
async function runOnce(number: number): Promise<void> {
  const { signal } = new AbortController();
  signals.push(new WeakRef(signal));
  script = scriptedStream([reply([toolCall("look")]), reply("Seen"), reply("And more")]);
  if (number % 3 === 1) queued.push(new WeakRef(agent.followUp("More")));
  if (number % 3 === 0) await agent.promptStream("Look", { signal }).cancel();
  else await agent.prompt("Look", { signal });
  agent.setModel("test/model");
}

function countReferenced(references: readonly WeakRef<object>[]): number {
  return references.filter((reference) => reference.deref() !== undefined).length;
}

for (let number = 0; number < 20; number++) await runOnce(number);
await new Promise((resolve) => setTimeout(resolve, 0));
gc();
console.log(countReferenced(signals), countReferenced(queued));
