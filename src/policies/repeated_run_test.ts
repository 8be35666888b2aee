import { assertEquals } from "@std/assert";
import { settle } from "../../tests/conformance/ports.ts";
import { Agent } from "../agent/agent.ts";
import { addDurableRun, removeDurableRun } from "../core/durable/durable_runs.ts";
import type { Policy, PostLoopContext, PreTurnContext } from "../core/hooks/policy.ts";
import { type Usage, zeroCost, zeroUsage } from "../core/models/usage.ts";
import { defineTool } from "../core/tools/tool.ts";
import { hang, ManualClock, reply, scriptedStream, toolCall } from "../testing/mod.ts";
import type { ScriptedStep } from "../testing/script.ts";
import { budget, type SharedBudget, sharedBudget } from "./mod.ts";

/** 15 tokens, of which 10 are input. */
const USAGE: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };

const call = (): ScriptedStep => reply([toolCall("work")], { usage: USAGE });

/** Executes a run that a durable engine has left in its second turn, and then executes again in the same process. */
async function executeTwice(policies: readonly Policy[], between: () => void = () => {}) {
  const clock = new ManualClock();
  const work = defineTool({
    name: "work",
    description: "Takes 100 ms.",
    parameters: {},
    execute: async () => {
      await clock.advance(100);
      return "done";
    },
  });
  const createAgent = (steps: readonly ScriptedStep[]) =>
    new Agent({
      model: "test/model",
      streamFn: scriptedStream(steps),
      tools: [work],
      policies,
      newId: (kind) => kind,
      now: clock.now,
      sleep: clock.sleep,
    });
  void createAgent([call(), hang()]).prompt("Work");
  await settle();
  between();
  return await createAgent([call(), reply("Done", { usage: USAGE })]).prompt("Work");
}

Deno.test("budget() counts a run that is executed again from its beginning", async () => {
  const { stoppedBy, text } = await executeTwice([budget({ toolMs: 150 })]);
  assertEquals([stoppedBy, text], [undefined, "Done"]);
});

Deno.test("sharedBudget() counts a run that is executed again once", async () => {
  const policy = sharedBudget({ toolMs: 150 });
  const { stoppedBy, text } = await executeTwice([policy]);
  assertEquals([stoppedBy, text], [undefined, "Done"]);
  const { usage: { total }, toolMs } = policy.spent;
  assertEquals([total, toolMs], [30, 100]);
});

Deno.test("sharedBudget(): reset() sets what a run has spent before it is executed again to 0", async () => {
  const policy = sharedBudget({ toolMs: 150 });
  await executeTwice([policy], policy.reset);
  const { usage: { total }, toolMs } = policy.spent;
  assertEquals([total, toolMs], [30, 100]);
});

/** Executes a prompt of a durable run that spends 15 tokens; returns the total of the budget. */
function executeDurable(policy: SharedBudget, runId: string): number {
  const start = { runId, turn: 0, usage: zeroUsage(), cost: zeroCost() };
  addDurableRun(runId, runId);
  policy.preTurn?.(start as unknown as PreTurnContext);
  policy.postLoop?.({ ...start, usage: USAGE } as unknown as PostLoopContext);
  removeDurableRun(runId, runId);
  return policy.spent.usage.total;
}

Deno.test("sharedBudget() remembers the last 10,000 prompts of durable runs that have ended, and counts older ones again", () => {
  const policy = sharedBudget({ tokens: 1_000_000 });
  for (let run = 0; run <= 10_000; run++) executeDurable(policy, `run-${run}`);
  const totals = ["run-1", "run-0"].map((runId) => executeDurable(policy, runId));
  assertEquals(totals, [150_015, 150_030]);
});

Deno.test("sharedBudget(): reset() also forgets the prompts of durable runs that have ended", () => {
  const policy = sharedBudget({ tokens: 1_000_000 });
  executeDurable(policy, "run");
  policy.reset();
  assertEquals(executeDurable(policy, "run"), 15);
});
