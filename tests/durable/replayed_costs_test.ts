import { assertEquals } from "@std/assert";
import type { Prices, Usage } from "../../src/core/models/usage.ts";
import { budget } from "../../src/policies/budget.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { assertReplays, execute, type Execution } from "./agent_execution.ts";

const usage: Usage = {
  input: 1_000_000,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  total: 1_000_000,
};

function price(input: number): Prices {
  return { "test/model": { input, output: 1 } };
}

const script = [
  reply([toolCall("read", { key: "1" }, { id: "a" })], { usage }),
  reply([toolCall("read", { key: "2" }, { id: "b" })], { usage }),
  reply("Done", { usage }),
];

function listCosts({ events }: Execution): unknown[] {
  return events.flatMap((event) => event.type === "model_call_end" ? [event.cost.total] : []);
}

Deno.test("durableAgent(): a replay has the prices of the first execution, also for a budget", async () => {
  const policies = [budget({ cost: 10 })];
  const first = await execute({ script, policies, prices: price(1) });
  assertEquals(listCosts(first), [1, 1, 1]);
  for (const prices of [price(20), undefined]) {
    const { records } = first.journal;
    const replayed = await execute({ script, policies, prices, records });
    assertEquals(listCosts(replayed), [1, 1, 1]);
    assertEquals(replayed.outcome.type, "completed");
  }
});

Deno.test("durableAgent(): calls after a replay have the prices of their process", async () => {
  const first = await execute({ script, prices: price(1) });
  const records = first.journal.records.slice(0, 3);
  const continued = await execute({ script, prices: price(2), records });
  assertEquals(listCosts(continued), [1, 1, 2]);
  await assertReplays({ script, prices: price(1) });
});

Deno.test("durableAgent(): a replay has the prices of a stream function that cannot load them again", async () => {
  const open = (prices: Prices | undefined, script: readonly ScriptedStep[]) => {
    const loadFacts = () => prices ? Promise.resolve() : Promise.reject(new Error("offline"));
    return Object.assign(scriptedStream(script), { loadFacts, ...(prices && { prices }) });
  };
  const first = await execute({ script, streamFn: open(price(1), script) });
  const { records } = first.journal;
  const replayed = await execute({ script, streamFn: open(undefined, []), records });
  assertEquals([listCosts(first), listCosts(replayed)], [[1, 1, 1], [1, 1, 1]]);
});
