// Continues a run in another process, without repeating what the first one has done, and with an approval in between.

import { defineTool } from "@swink/agent";
import { durableAgent, InProcessEngine } from "@swink/agent/durable";
import { InMemorySessionStore } from "@swink/agent/memory";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const order = defineTool({
  name: "order",
  description: "Orders an article; never executed twice.",
  parameters: { type: "object", properties: { article: { type: "string" } } },
  execute: ({ article }) => {
    console.log(`ordered: ${article}`);
    return "ordered";
  },
});

const store = new InMemorySessionStore(); // A program uses one that keeps its sessions.

/** Starts what would be a process of its own: every one registers the same workflows. */
async function startProcess() {
  const engine = new InProcessEngine({ store, pollMs: 10 });
  const purchase = engine.register("purchase", async (steps, prompt: string) => {
    const agent = durableAgent({
      model: "example/model",
      // The model of this process; the calls that another one has made are not repeated.
      streamFn: ({ context, ...request }) => {
        const script = [
          reply([toolCall("order", { article: "paper" }, { id: "call-1" })]),
          reply([toolCall("order", { article: "ink" }, { id: "call-2" })]),
          reply("Paper and ink are ordered."),
        ];
        const made = context.messages.filter(({ role }) => role === "assistant").length;
        return scriptedStream(script.slice(made))({ ...request, context });
      },
      tools: [order],
      approve: ({ arguments: { article } }) => article === "paper" || { type: "pending" },
    }, steps);
    agent.subscribe((event) => {
      if (event.type === "tool_approval_requested" && !steps.isReplaying) {
        console.log(`approval: ${event.arguments["article"]}`);
      }
    });
    return (await agent.prompt(prompt)).text;
  });
  await engine.start();
  return { engine, purchase };
}

const first = await startProcess();
await first.purchase.start("Order paper and ink", { id: "purchase-1" });
await new Promise((resolve) => setTimeout(resolve, 300));
await first.engine.close();
console.log("the first process has ended");

const second = await startProcess();
const run = second.engine.getRun<string>("purchase-1");
await run.decide("call-2", true); // Any process can decide.
console.log(await run.result());
await second.engine.close();

// Prints:
// approval: paper
// ordered: paper
// approval: ink
// the first process has ended
// ordered: ink
// Paper and ink are ordered.
