import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { settle } from "../../tests/conformance/ports.ts";
import { atFirst, type TestAgent, testAgent } from "../../tests/conformance/test_agent.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { AgentEvent } from "../core/events/event.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { extractText } from "../core/messages/content.ts";
import type { AgentMessage } from "../core/messages/message.ts";
import { modelSpec } from "../core/models/model.ts";
import { type Usage, zeroCost, zeroUsage } from "../core/models/usage.ts";
import { wrapStreamFn } from "../core/streams/wrap_stream_fn.ts";
import { defineTool } from "../core/tools/tool.ts";
import {
  fail,
  fakeTool,
  hang,
  ManualClock,
  reply,
  scriptedStream,
  toolCall,
} from "../testing/mod.ts";
import type { ScriptedStep } from "../testing/script.ts";
import { checkTime } from "./budget_limits.ts";
import { budget, type BudgetOptions } from "./mod.ts";

/** 15 tokens, of which 10 are input. */
const USAGE: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, total: 15 };
/** One unit of money per input token. */
const PRICES = { "test/model": { input: 1_000_000, output: 0 } };
const work = fakeTool({ name: "work" });

const callWork = (): ScriptedStep => reply([toolCall("work")], { usage: USAGE });

function startAgent(
  limits: BudgetOptions,
  steps: readonly ScriptedStep[],
  options: Partial<AgentOptions> = {},
): TestAgent {
  return testAgent(steps, { tools: [work], policies: [budget(limits)], ...options });
}

function getLastText(messages: readonly AgentMessage[]): string {
  const last = messages.at(-1);
  return last && last.role !== "custom" ? extractText(last.content) : "";
}

Deno.test("budget() stops the run when the token limit is reached [A103]", async () => {
  const { agent } = startAgent({ tokens: 30 }, [callWork(), callWork()]);
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals(turns, 2);
  assertEquals(stoppedBy, { policy: "budget", reason: "The run reached the limit of 30 tokens" });
});

Deno.test("budget() counts the cost that is calculated from prices [A103]", async () => {
  const { agent } = startAgent({ cost: 20 }, [callWork(), callWork()], { prices: PRICES });
  const { turns, cost, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, cost.total], [2, 20]);
  assertEquals(stoppedBy, { policy: "budget", reason: "The run reached the cost limit of 20" });
});

Deno.test("budget() counts the cost that the provider reports, without prices [A103]", async () => {
  const cost = { ...zeroCost(), total: 10 };
  const step = reply([toolCall("work")], { usage: USAGE, cost });
  const { agent } = startAgent({ cost: 20 }, [step, step]);
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy?.reason], [2, "The run reached the cost limit of 20"]);
});

Deno.test("budget() counts the usage and cost that tools report", async () => {
  const cost = { ...zeroCost(), total: 3 };
  const result = { content: [], usage: { ...zeroUsage(), total: 100 }, cost };
  const tools = [fakeTool({ name: "work", result })];
  for (const limits of [{ cost: 3 }, { tokens: 100 }]) {
    const { agent } = startAgent(limits, [reply([toolCall("work")])], { tools });
    const { turns, stoppedBy } = await agent.prompt("Go");
    assertEquals([turns, stoppedBy?.policy], [1, "budget"]);
  }
});

Deno.test("budget() aborts a reply at the token limit and keeps its text", async () => {
  const words = "word ".repeat(20);
  const { agent, clock } = startAgent({ tokens: 25 }, [hang({ after: words })]);
  const running = agent.prompt("Go");
  await settle();
  clock.advance(250);
  const { stopReason, stoppedBy, messages } = await running;
  assertEquals([stopReason, stoppedBy?.reason, getLastText(messages)], [
    "aborted",
    "The run reached the limit of 25 tokens",
    words,
  ]);
});

Deno.test("budget() rounds the estimate of a reply up to a whole token", async () => {
  const { agent, clock } = startAgent({ tokens: 26 }, [hang({ after: `${"word ".repeat(20)}.` })]);
  const running = agent.prompt("Go");
  await settle();
  clock.advance(250);
  await settle();
  agent.abort("the budget did not stop the run");
  assertEquals((await running).stoppedBy?.reason, "The run reached the limit of 26 tokens");
});

Deno.test("budget() counts the earlier attempts of a turn while a reply streams", async () => {
  const steps = () => [
    fail("network_error", "Down", { usage: USAGE }),
    hang({ after: "word ".repeat(20) }),
  ];
  for (const limits of [{ tokens: 40 }, { cost: 10, unknownPrice: "ignore" } as const]) {
    const { agent, clock } = startAgent(limits, steps(), { prices: PRICES, retry: () => 0 });
    const running = agent.prompt("Go");
    for (const step of [0, 0, 250]) {
      clock.advance(step);
      await settle();
    }
    agent.abort("the budget did not stop the run");
    const { stoppedBy, turns } = await running;
    assertEquals([stoppedBy?.policy, turns], ["budget", 1]);
  }
});

Deno.test("budget() does not abort a reply below the token limit", async () => {
  const { agent, clock } = startAgent({ tokens: 26 }, [hang({ after: "word ".repeat(20) })]);
  const running = agent.prompt("Go");
  await settle();
  clock.advance(250);
  await settle();
  agent.abort();
  assertEquals((await running).stoppedBy, undefined);
});

for (const [source, ownPrices] of [["the agent", true], ["its stream function", false]] as const) {
  Deno.test(`budget() aborts the first reply at the cost limit, estimated with the prices of ${source}`, async () => {
    const prices = { "test/model": { input: 0, output: 1_000_000 } };
    const script = scriptedStream([hang({ after: "word ".repeat(20) })]);
    const { agent, clock } = startAgent({ cost: 25 }, [], {
      streamFn: Object.assign(wrapStreamFn(script, (request) => script(request)), {
        prices: ownPrices ? {} : prices,
      }),
      ...(ownPrices && { prices }),
    });
    const running = agent.prompt("Go");
    await settle();
    clock.advance(250);
    const { stopReason, stoppedBy, turns } = await running;
    assertEquals([stopReason, stoppedBy?.reason, turns], [
      "aborted",
      "The run reached the cost limit of 25",
      1,
    ]);
  });
}

Deno.test("budget() stops a run whose price is unknown after its first turn", async () => {
  const { agent, streamFn } = startAgent({ cost: 1000 }, [callWork()]);
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy?.policy], [1, "budget"]);
  assertStringIncludes(stoppedBy?.reason ?? "", "price unknown");
  streamFn.assertDone();
});

Deno.test("budget() reports an unknown price also when the first turn is the last one", async () => {
  const { agent } = startAgent({ cost: 1000 }, [reply("Hello", { usage: USAGE })]);
  const { stopReason, stoppedBy } = await agent.prompt("Go");
  assertEquals(stopReason, "stop");
  assertStringIncludes(stoppedBy?.reason ?? "", "price unknown");
});

Deno.test("budget() treats rates that lack a price as unknown", async () => {
  const prices = { "test/model": { output: 1 } } as unknown as typeof PRICES;
  const { agent } = startAgent({ cost: 1000 }, [callWork()], { prices });
  assertStringIncludes((await agent.prompt("Go")).stoppedBy?.reason ?? "", "price unknown");
});

Deno.test("budget() needs no price when the cost is not limited", async () => {
  for (const cost of [undefined, Infinity]) {
    const { agent } = startAgent({ cost, tokens: 1000 }, [callWork(), reply("Done")]);
    assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
  }
});

Deno.test('budget() with `unknownPrice: "ignore"` counts what has a price', async () => {
  const limits: BudgetOptions = { cost: 20, unknownPrice: "ignore" };
  const models = ["test/model", "test/unpriced", "test/model", "test/unpriced"];
  const { agent, seen } = startAgent(limits, models.map(callWork), {
    prices: PRICES,
    policies: [
      { name: "switch", preTurn: ({ turn }) => agent.setModel(models[turn] ?? "") },
      budget(limits),
    ],
  });
  const { turns, cost, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, cost.total], [3, null]);
  assertEquals(stoppedBy?.reason, "The run reached the cost limit of 20");
  assertEquals(seen.filter(({ type }) => type === "model_call_end").length, 3);
});

Deno.test('budget() with `unknownPrice: "ignore"` counts the known cost of tools', async () => {
  const cost = { ...zeroCost(), total: 10 };
  const tools = [fakeTool({ name: "work", result: { content: [], cost } })];
  const limits: BudgetOptions = { cost: 20, unknownPrice: "ignore" };
  const { agent } = startAgent(limits, [callWork(), callWork()], { tools });
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy?.policy], [2, "budget"]);
});

Deno.test('budget() with `unknownPrice: "ignore"` counts the known parts of a cost whose total is unknown', async () => {
  const cost = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, total: null };
  const tools = [fakeTool({ name: "work", result: { content: [], cost } })];
  const limits: BudgetOptions = { cost: 20, unknownPrice: "ignore" };
  const { agent } = startAgent(limits, [callWork(), callWork(), reply("Done")], { tools });
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy?.reason], [2, "The run reached the cost limit of 20"]);
});

Deno.test('budget() with `unknownPrice: "ignore"` counts the known cost of agents in the background', async () => {
  const spent: AgentEvent = {
    type: "model_call_end",
    turn: 1,
    attempt: 1,
    model: modelSpec("test/priced"),
    durationMs: 0,
    usage: USAGE,
    cost: { ...zeroCost(), total: 10 },
  };
  const starter = defineTool({
    name: "work",
    description: "Starts work in the background.",
    parameters: { type: "object" },
    execute: (_args, { run }) => {
      run.background(async ({ onEvent }) => {
        await onEvent(spent);
        return "Finished";
      });
      return "Started";
    },
  });
  const limits: BudgetOptions = { cost: 20, unknownPrice: "ignore" };
  const steps = Array.from({ length: 6 }, callWork);
  const { agent } = startAgent(limits, steps, { tools: [starter] });
  const { turns, cost, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, cost.total], [2, null]);
  assertEquals(stoppedBy?.reason, "The run reached the cost limit of 20");
});

Deno.test('budget() with `unknownPrice: "ignore"` does not stop a reply whose rates lack a price', async () => {
  const limits: BudgetOptions = { cost: 1000, unknownPrice: "ignore" };
  const prices = { "test/model": { input: 1 } } as unknown as typeof PRICES;
  const { agent, clock } = startAgent(limits, [hang({ after: "Half" })], { prices });
  const running = agent.prompt("Go");
  await settle();
  clock.advance(250);
  await settle();
  agent.abort();
  assertEquals((await running).stoppedBy, undefined);
});

Deno.test("budget() counts consecutive runs with the same id separately", async () => {
  const limits: BudgetOptions = { cost: 20, unknownPrice: "ignore" };
  const models = ["test/unpriced", "test/model", "test/model"];
  const steps = [callWork(), callWork(), reply("Done")];
  const { agent } = startAgent(limits, [...steps, ...steps], {
    prices: PRICES,
    newId: () => "same",
    policies: [
      { name: "switch", preTurn: ({ turn }) => agent.setModel(models[turn] ?? "") },
      budget(limits),
    ],
  });
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("budget() counts usage that a model reports as NaN as 0 tokens, and keeps its limit", async () => {
  const usage = { ...USAGE, input: Number.NaN, total: Number.NaN };
  const step = reply([toolCall("work")], { usage });
  const { agent } = startAgent({ tokens: 10 }, [step, step]);
  const { turns, stoppedBy } = await agent.prompt("Go");
  assertEquals([turns, stoppedBy?.policy], [2, "budget"]);
});

Deno.test("budget() throws without limits", () => {
  for (const limits of [undefined, null, 5]) {
    const untyped = limits as unknown as BudgetOptions;
    assertThrows(() => budget(untyped), BadRequestError, "Pass the limits");
  }
});

Deno.test("budget() stops a run whose time is no number", () => {
  assertEquals(checkTime({ elapsedMs: 1000 }, Number.NaN)?.type, "stop");
});

Deno.test("budget() aborts a hanging reply at the time limit", async () => {
  const { agent, clock } = startAgent({ elapsedMs: 1000 }, [hang({ after: "a beginning" })]);
  const running = agent.prompt("Go");
  for (let step = 0; step < 4; step++) {
    await settle();
    clock.advance(250);
  }
  const { messages, stoppedBy, stopReason } = await running;
  assertEquals([getLastText(messages), stopReason, stoppedBy?.reason], [
    "a beginning",
    "aborted",
    "The run reached the time limit of 1000 ms",
  ]);
});

Deno.test("budget() cancels a running tool at the time limit", async () => {
  const tools = [fakeTool({ name: "work", delayMs: Infinity })];
  const { agent, clock } = startAgent({ elapsedMs: 500 }, [callWork()], { tools });
  const running = agent.prompt("Go");
  for (let step = 0; step < 3; step++) {
    await settle();
    clock.advance(250);
  }
  const { messages, stoppedBy } = await running;
  assertEquals(stoppedBy?.policy, "budget");
  assertStringIncludes(getLastText(messages), "The run reached the time limit of 500 ms");
});

Deno.test("budget() ends an approval at the time limit", async () => {
  const executed = fakeTool({ name: "work" });
  const { agent, clock } = startAgent({ elapsedMs: 500 }, [callWork()], {
    tools: [executed],
    approve: () => new Promise(() => {}),
  });
  const running = agent.prompt("Go");
  for (let step = 0; step < 3; step++) {
    await settle();
    clock.advance(250);
  }
  const { stoppedBy } = await running;
  assertEquals([stoppedBy?.reason, executed.calls], [
    "The run reached the time limit of 500 ms",
    [],
  ]);
});

Deno.test("budget() ends a retry delay at the time limit", async () => {
  const { agent, clock, seen } = startAgent({ elapsedMs: 500 }, [fail("network_error", "down")], {
    retry: () => 3_600_000,
  });
  const running = agent.prompt("Go");
  for (let step = 0; step < 2; step++) {
    await settle();
    clock.advance(250);
  }
  const { stoppedBy, stopReason } = await running;
  assertEquals([stoppedBy?.policy, stopReason], ["budget", "aborted"]);
  assertEquals(seen.filter(({ type }) => type === "retry").length, 1);
});

for (const limits of [{ cost: 5 }, { tokens: 5 }]) {
  const [name] = Object.keys(limits);
  Deno.test(`budget() lets running tools finish when the ${name} limit is reached`, async () => {
    let finishWork = (_result: string): void => {};
    const result = () => new Promise<string>((resolve) => finishWork = resolve);
    const tools = [fakeTool({ name: "work", result })];
    const test = startAgent(limits, [callWork()], { tools, prices: PRICES });
    const running = test.agent.prompt("Go");
    await settle();
    test.clock.advance(250);
    await settle();
    finishWork("finished");
    const { messages, stoppedBy } = await running;
    assertEquals([getLastText(messages), stoppedBy?.policy], ["finished", "budget"]);
  });
}

Deno.test("budget() counts each run on its own", async () => {
  const { agent } = startAgent({ tokens: 30 }, [
    callWork(),
    reply("Done"),
    callWork(),
    reply("Done"),
  ]);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
  assertEquals((await agent.prompt("Go")).stoppedBy, undefined);
});

Deno.test("budget() leaves no timer when the run is aborted", async () => {
  const { agent, clock } = startAgent({ elapsedMs: 1000 }, [hang({ after: "Half" })]);
  atFirst(agent, "message_update", () => agent.abort());
  await agent.prompt("Go");
  assertEquals(clock.sleepers, 0);
});

Deno.test("budget() throws for an invalid option", () => {
  const create = (options: Record<string, unknown>) => () => budget(options);
  assertThrows(create({ cost: Number.NaN }), BadRequestError, "cost must be a number");
  assertThrows(create({ cost: "5" }), BadRequestError, "cost must be a number");
  assertThrows(create({ tokens: -1 }), BadRequestError, "tokens must be a number");
  assertThrows(create({ elapsedMs: null }), BadRequestError, "elapsedMs must be a number");
  assertThrows(create({ cost: 1, unknownPrice: "warn" }), BadRequestError, "unknownPrice must be");
});

Deno.test("budget() stops retries whose failed attempts reach its limit together, though none reports usage", async () => {
  const broken = () => fail("network_error", "Connection reset", { after: "word ".repeat(20) });
  const { agent } = testAgent([broken(), broken(), reply("Done")], {
    policies: [budget({ tokens: 50 })],
    retry: () => 0,
    sleep: () => Promise.resolve(),
  });
  assertEquals((await agent.prompt("Go")).stoppedBy?.policy, "budget");
});

Deno.test("budget() counts the time of a call whose result another policy withholds", async () => {
  const clock = new ManualClock();
  const { now, sleep } = clock;
  const work = fakeTool({
    name: "work",
    result: () => {
      clock.advance(60);
      return "ok";
    },
  });
  const fails: Policy = {
    name: "fails",
    postDispatch: () => {
      throw new Error("out of order");
    },
  };
  const call = () => reply([toolCall("work")]);
  const agent = new Agent({
    model: "test/model",
    streamFn: scriptedStream([call(), call(), call(), reply("Never")]),
    tools: [work],
    policies: [fails, budget({ toolMs: 100 })],
    now,
    sleep,
  });
  const { stoppedBy } = await agent.prompt("Go");
  assertEquals([work.calls.length, stoppedBy?.policy], [2, "budget"]);
});
