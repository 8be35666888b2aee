/**
 * A worker of the benchmark: starts a number of runs at once and prints how long they take together.
 *
 * @module
 */

import { defineTool } from "../mod.ts";
import { DbosEngine } from "../src/durable/dbos/mod.ts";
import { durableAgent } from "../src/durable/mod.ts";
import { reply, scriptedStream, toolCall } from "../src/testing/mod.ts";

/** Number of steps of a run: two model calls, the intent of a tool call and the call. */
export const STEPS_PER_RUN = 4;

const note = defineTool({
  name: "note",
  description: "Notes a text.",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  sideEffect: "once",
  execute: () => "noted",
});

if (import.meta.main) {
  const [url = "", worker = "", runs = "1"] = Deno.args;
  await using engine = new DbosEngine({ databaseUrl: url, executorId: worker });
  const work = engine.register("work", async (steps, prompt: string) => {
    const streamFn = scriptedStream([
      reply([toolCall("note", { text: "A text to note" })]),
      reply("It is noted, as you have asked for."),
    ]);
    const agent = durableAgent({ model: "test/model", streamFn, tools: [note] }, steps);
    return (await agent.prompt(prompt)).text;
  });
  await engine.start();
  await (await work.start("Warm up", { id: `${worker} warm` })).result();
  console.log("ready");
  for await (const _line of Deno.stdin.readable) {
    const startedAt = performance.now();
    const ids = Array.from({ length: Number(runs) }, (_, index) => `${worker} ${index}`);
    await Promise.all(ids.map(async (id) => (await work.start("Note it", { id })).result()));
    console.log(performance.now() - startedAt);
    break;
  }
}
