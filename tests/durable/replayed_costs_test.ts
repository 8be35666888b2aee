import { assertEquals } from "@std/assert";
import type { Agent } from "../../src/agent/agent.ts";
import type { DurableSteps } from "../../src/core/durable/durable_steps.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import { findRates, type Prices, type Usage } from "../../src/core/models/usage.ts";
import { durableAgent } from "../../src/durable/agent/durable_agent.ts";
import { executeRun } from "../../src/durable/engine/execute_run.ts";
import { DetachedError, type StepJournal } from "../../src/durable/steps/step_journal.ts";
import { CHECK_INTERVAL_MS } from "../../src/loop/run/turn_monitor.ts";
import { budget } from "../../src/policies/budget.ts";
import { sharedBudget } from "../../src/policies/shared_budget.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { assertReplays, execute, type Execution } from "./agent_execution.ts";
import { ArrayJournal } from "./array_journal.ts";

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

Deno.test("durableAgent(): a price that was not known stays unknown in a replay, so that a budget decides as before", async () => {
  const policies = [budget({ cost: 10, unknownPrice: "ignore" })];
  for (const prices of [{}, undefined]) {
    const first = await execute({ script, policies, prices });
    assertEquals(listCosts(first), [null, null, null]);
    const { records } = first.journal;
    const replayed = await execute({ script, policies, prices: price(20), records });
    assertEquals(listCosts(replayed), [null, null, null]);
    assertEquals(replayed.outcome, first.outcome);
  }
});

Deno.test("durableAgent(): a replay has prices that were loaded after the first reply", async () => {
  const open = (prices: Prices) => {
    let loaded: Prices | undefined;
    return Object.assign(scriptedStream(script), {
      prices: (model: ModelSpec) => loaded && findRates(loaded, model),
      loadFacts: () => Promise.resolve(loaded = prices),
    });
  };
  const first = await execute({ script, streamFn: open(price(1)) });
  const { records } = first.journal;
  const replayed = await execute({ script, streamFn: open(price(20)), records });
  assertEquals([listCosts(first), listCosts(replayed)], [[1, 1, 1], [1, 1, 1]]);
});

Deno.test("durableAgent(): a price that is not known is reported in a replay as often as in the first execution", async () => {
  const listWarnings = ({ events }: Execution) =>
    events.flatMap((event) => event.type === "warning" ? [event.code] : []);
  for (const [prices, expected] of [[{}, ["unknown_price"]], [undefined, []]] as const) {
    const first = await execute({ script, prices });
    const replayed = await execute({ script, prices, records: first.journal.records });
    assertEquals([listWarnings(first), listWarnings(replayed)], [expected, expected]);
  }
});

Deno.test("durableAgent(): an execution that another one follows calls no policy, which that one may have, too", async () => {
  const detach = new AbortController();
  const step: StepJournal["step"] = async (_name, execute) => {
    await execute();
    detach.abort(new DetachedError());
    return await new Promise<never>(() => {});
  };
  const journal = Object.assign(new ArrayJournal(), { step });
  Object.defineProperty(journal, "detached", { value: detach.signal });
  let checks = 0;
  const workflow = async (steps: DurableSteps) => {
    const streamFn = scriptedStream([reply("One two three")], { deltaMs: 2 });
    const policies = [{ name: "count", onDelta: () => void checks++ }];
    await durableAgent({ model: "test/model", streamFn, policies }, steps).prompt("Count");
  };
  void executeRun(journal, { workflow, input: null }).catch(() => {});
  await new Promise((resolve) => detach.signal.addEventListener("abort", resolve));
  const before = checks;
  await new Promise((resolve) => setTimeout(resolve, 2 * CHECK_INTERVAL_MS));
  assertEquals([before > 0, checks], [true, before]);
});

Deno.test("durableAgent(): sharedBudget() counts a prompt once that has ended before the process executes the run again", async () => {
  const policy = sharedBudget({ tokens: 5_000_000 });
  const tokens: number[] = [];
  let journal = new ArrayJournal();
  const options = {
    script: [reply("One", { usage }), reply("Two", { usage })],
    policies: [policy],
    onStart: (started: ArrayJournal) => void (journal = started),
    prompt: async (agent: Agent, steps: DurableSteps) => {
      await agent.prompt("First");
      for (const name of ["a", "b", "c"]) await steps.run(name, () => null);
      return await agent.prompt("Second");
    },
  };
  for (const name of ["a", "b", "c"]) {
    const crashAt = (step: string) => step === name;
    await execute({ ...options, records: journal.records, crashAt }).catch(() => {});
    tokens.push(policy.spent.usage.total);
  }
  const { outcome } = await execute({ ...options, records: journal.records });
  assertEquals(tokens, [usage.total, usage.total, usage.total]);
  assertEquals(policy.spent.usage.total, 2 * usage.total);
  assertEquals("value" in outcome && isJsonObject(outcome.value) && outcome.value["text"], "Two");
});

Deno.test("durableAgent(): sharedBudget() counts another run that gets the id of one that has ended", async () => {
  const policy = sharedBudget({ tokens: 5_000_000 });
  const options = { script: [reply("One", { usage })], policies: [policy] };
  const first = await execute({ ...options, startedAt: 1 });
  await execute({ ...options, startedAt: 2 });
  await execute({ ...options, startedAt: 1, records: first.journal.records });
  assertEquals(policy.spent.usage.total, 2 * usage.total);
});
