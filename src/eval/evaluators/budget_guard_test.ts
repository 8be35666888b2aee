import { assertEquals } from "@std/assert";
import { Agent } from "../../agent/agent.ts";
import { fakeTool } from "../../testing/fake_tool.ts";
import { toolCall } from "../../testing/messages.ts";
import { hang, reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import type { EvalBudget } from "../case/eval_case.ts";
import { BudgetGuard } from "./budget_guard.ts";

const usage = { input: 6, output: 4, cacheRead: 0, cacheWrite: 0, total: 10 };

/** Returns an agent that would make four calls, one in each turn. */
function createAgent(guard: BudgetGuard): Agent {
  const replies = Array.from({ length: 4 }, () => reply([toolCall("step")], { usage }));
  const streamFn = scriptedStream([...replies, reply("Done", { usage })]);
  const tools = [fakeTool({ name: "step" })];
  return new Agent({ model: "test/model", streamFn, tools, policies: [guard.policy] });
}

async function run(budget: EvalBudget): Promise<{ turns: number; exceeded: string | undefined }> {
  const guard = new BudgetGuard(budget);
  const { turns } = await createAgent(guard).prompt("Go");
  return { turns, exceeded: guard.exceeded };
}

Deno.test("BudgetGuard: stops a live run at its limit of turns [A152]", async () => {
  assertEquals(await run({ maxTurns: 2 }), { turns: 2, exceeded: "3 turns exceed 2" });
});

Deno.test("BudgetGuard: stops a live run after the turn that exceeds its tokens [A152]", async () => {
  assertEquals(await run({ maxTokens: 15 }), { turns: 2, exceeded: "20 tokens exceed 15" });
});

Deno.test("BudgetGuard: stops a live run whose cost is unknown", async () => {
  assertEquals((await run({ maxCost: 1 })).turns, 1);
});

Deno.test("BudgetGuard: does not stop a run within its limits", async () => {
  assertEquals(await run({ maxTurns: 5, maxTokens: 50 }), { turns: 5, exceeded: undefined });
});

Deno.test("BudgetGuard: adds the runs of several messages", async () => {
  const guard = new BudgetGuard({ maxTurns: 6 });
  await createAgent(guard).prompt("Go");
  const { turns } = await createAgent(guard).prompt("Again");
  assertEquals(turns, 1);
  assertEquals(guard.exceeded, "7 turns exceed 6");
});

/** Returns an agent with a tool that runs another one: the first has two turns, and the other one five. */
function createParent(guard: BudgetGuard): Agent {
  const worker = createAgent(new BudgetGuard({}));
  const replies = [
    reply([toolCall("work", { prompt: "Go" })], { usage }),
    reply("Done", { usage }),
  ];
  return new Agent({
    model: "test/model",
    streamFn: scriptedStream(replies),
    tools: [worker.asTool({ name: "work", description: "Works." })],
    policies: [guard.policy],
  });
}

Deno.test("BudgetGuard: counts the tokens of an agent that a tool runs once, and not its turns", async () => {
  const guard = new BudgetGuard({ maxTokens: 70, maxTurns: 2 });
  const result = await createParent(guard).prompt("Go");
  assertEquals([guard.exceeded, result.usage.total, result.turns], [undefined, 70, 2]);
  const exceeded = new BudgetGuard({ maxTokens: 69 });
  await createParent(exceeded).prompt("Go");
  assertEquals(exceeded.exceeded, "70 tokens exceed 69");
});

Deno.test("BudgetGuard: adds agents that tools run over several messages", async () => {
  const guard = new BudgetGuard({ maxTokens: 140 });
  await createParent(guard).prompt("Go");
  await createParent(guard).prompt("Again");
  assertEquals(guard.exceeded, undefined);
});

Deno.test("BudgetGuard: stops an agent that a tool runs while it exceeds the tokens", async () => {
  const guard = new BudgetGuard({ maxTokens: 35 });
  const { usage: { total } } = await createParent(guard).prompt("Go");
  // Four of its five turns; the reply with its call counts at the end of the turn.
  assertEquals([guard.exceeded, total], ["50 tokens exceed 35", 50]);
});

Deno.test("BudgetGuard: stops a run while its model does not answer", async () => {
  const guard = new BudgetGuard({ maxDurationMs: 1_000 });
  let time = 0;
  const now = () => time += 600;
  const streamFn = scriptedStream([hang()]);
  const agent = new Agent({ model: "test/model", streamFn, policies: [guard.policy], now });
  const { stoppedBy } = await agent.prompt("Go");
  assertEquals(stoppedBy?.policy, "eval_budget");
});

Deno.test("BudgetGuard: calculates the duration from its own clock, if it has one", async () => {
  let elapsed = 5_000;
  const guard = new BudgetGuard({ maxDurationMs: 100 }, { elapsed: () => elapsed });
  let time = 0;
  const now = () => time += 600;
  const create = () =>
    new Agent({
      model: "test/model",
      streamFn: scriptedStream([reply("Done")]),
      policies: [guard.policy],
      now,
    });
  await create().prompt("Go");
  assertEquals(guard.exceeded, undefined);
  elapsed += 101;
  await create().prompt("Go");
  assertEquals(guard.exceeded, "101 ms exceed 100 ms");
});
