import { assertEquals } from "@std/assert";
import { Agent } from "../../mod.ts";
import { BudgetGuard } from "../../src/eval/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import { fakeTool, reply, scriptedStream, toolCall } from "../../src/testing/mod.ts";

const usage = { input: 6, output: 4, cacheRead: 0, cacheWrite: 0, total: 10 };

/** Returns an agent that makes two calls of sub-agents, one of them in the background: 7 model calls, 3 of its own. */
function createAgent(guard: BudgetGuard): Agent {
  const explore = (name: string) =>
    subAgentTool({
      name,
      description: "Answers a question.",
      background: true,
      streamFn: scriptedStream([reply([toolCall("search")], { usage }), reply("Here", { usage })]),
    });
  return new Agent({
    model: "test/model",
    tools: [fakeTool({ name: "search" }), explore("late"), explore("direct")],
    policies: [guard.policy],
    streamFn: scriptedStream([
      reply([
        toolCall("late", { prompt: "Where?", background: true }),
        toolCall("direct", { prompt: "Where?" }),
      ], { usage }),
      reply("I wait.", { usage }),
      reply("There.", { usage }),
    ]),
  });
}

Deno.test("BudgetGuard: counts agents in the background and others once", async () => {
  const guard = new BudgetGuard({ maxTokens: 70 });
  const { usage: { total }, stoppedBy } = await createAgent(guard).prompt("Go");
  assertEquals([guard.exceeded, stoppedBy, total], [undefined, undefined, 70]);
  const exceeded = new BudgetGuard({ maxTokens: 69 });
  await createAgent(exceeded).prompt("Go");
  assertEquals(exceeded.exceeded, "70 tokens exceed 69");
});
