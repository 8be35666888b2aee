import { assertAlmostEquals, assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { AbortedError } from "../../src/core/errors/errors.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import {
  type Prices,
  unknownCost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../../src/core/models/usage.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { wrapStreamFn } from "../../src/core/streams/wrap_stream_fn.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType } from "./outline.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { atFirst, testAgent } from "./test_agent.ts";

const million: Usage = { input: 1e6, output: 1e6, cacheRead: 0, cacheWrite: 0, total: 2e6 };
const prices: Prices = { "test/model": { input: 3, output: 15 }, spare: { input: 1, output: 2 } };

Deno.test("prices: the assistant message has the cost by the price list [A53]", async () => {
  const { agent } = testAgent([reply("Hello", { usage: million })], { prices });
  const events = await checkEvents(agent.promptStream("Hi"));
  const assistant = eventsOfType(events, "message_end").at(-1)?.message;
  assertEquals(assistant?.role === "assistant" && assistant.cost, {
    input: 3,
    output: 15,
    cacheRead: 0,
    cacheWrite: 0,
    total: 18,
  });
});

Deno.test("prices: a cost above 0 that the provider reports takes precedence over the price list [A53]", async () => {
  const reported = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 7 };
  const { agent } = testAgent([
    reply("Hello", { usage: million, cost: reported }),
    reply("Hello", { usage: million, cost: { ...reported, total: 0 } }),
  ], { prices: () => ({ input: 1, output: 1 }) });
  assertEquals((await agent.prompt("Hi")).cost.total, 7);
  assertEquals((await agent.prompt("Hi")).cost.total, 2);
});

Deno.test("prices: a cost of 0 that the provider reports is the cost when no price is known, without a warning", async () => {
  const step = reply("Hello", { usage: million, cost: zeroCost() });
  for (const options of [{}, { prices: {} }]) {
    const { agent, seen } = testAgent([step], options);
    assertEquals((await agent.prompt("Hi")).cost, zeroCost());
    assertEquals(eventsOfType(seen, "warning"), []);
  }
});

Deno.test("prices: a reported cost without a valid total is unknown, and the missing price is reported", async () => {
  const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: NaN };
  const { agent, seen } = testAgent([reply("Hello", { usage: million, cost })], { prices: {} });
  assertEquals((await agent.prompt("Hi")).cost, unknownCost());
  assertEquals(eventsOfType(seen, "warning").map(({ code }) => code), ["unknown_price"]);
});

Deno.test("prices: an unknown price is reported once per model, and the tokens are counted [A53]", async () => {
  const { agent, seen } = testAgent([1, 2, 3].map(() => reply("Hello", { usage: million })), {
    prices,
    model: "other/model",
  });
  const first = await agent.prompt("Hi");
  await agent.prompt("Hi");
  agent.setModel("third/model");
  await agent.prompt("Hi");
  assertEquals([first.usage.total, first.cost], [2e6, unknownCost()]);
  assertEquals(eventsOfType(seen, "warning").map(({ code, message }) => [code, message]), [
    [
      "unknown_price",
      "No price is known for other/model, so its cost is unknown",
    ],
    [
      "unknown_price",
      "No price is known for third/model, so its cost is unknown",
    ],
  ]);
});

Deno.test("prices: each attempt is priced at the rates of its model", async () => {
  const { agent } = testAgent([
    fail("network_error", "Reset", { usage: million }),
    reply("Hello", { usage: million }),
  ], {
    ...scriptedPorts(new InstantClock()),
    prices,
    retry: () => null,
    fallback: [{ model: { provider: "other", modelId: "spare", thinkingLevel: "off" } }],
  });
  const { cost, usage } = await agent.prompt("Hi");
  assertAlmostEquals(cost.total ?? NaN, 18 + 3);
  assertEquals(usage.total, 4e6);
});

Deno.test("prices: without a price list, each attempt is priced by the streamFn that made it", async () => {
  const first = scriptedStream([fail("network_error", "Reset", { usage: million })]);
  const second = scriptedStream([reply("Hello", { usage: million })]);
  const { agent } = testAgent([], {
    streamFn: Object.assign(first, { prices: () => ({ input: 3, output: 15 }) }),
    retry: () => null,
    fallback: [{
      model: modelSpec("other/spare"),
      streamFn: Object.assign(second, { prices: () => ({ input: 1, output: 2 }) }),
    }],
  });
  const events = await checkEvents(agent.promptStream("Hi"));
  assertEquals(eventsOfType(events, "model_call_end").map(({ cost }) => cost.total), [18, 3]);
});

Deno.test("prices: a complete reply without token counts has an unknown cost, reported once", async () => {
  const { agent, seen } = testAgent([reply("Hello"), reply("Hello")], {
    prices,
    model: "other/model",
  });
  assertEquals((await agent.prompt("Hi")).cost.total, null);
  assertEquals((await agent.prompt("Hi")).cost.total, null);
  const warnings = eventsOfType(seen, "warning").map(({ code, message }) => [code, message]);
  assertEquals(warnings, [[
    "unknown_usage",
    "other/model reported no token counts, so its cost is unknown",
  ]]);
});

Deno.test("prices: a total without the counts of input and output has an unknown cost", async () => {
  const usage = { ...zeroUsage(), total: 900 };
  const { agent } = testAgent([reply("Hello", { usage })], { prices, model: "other/model" });
  assertEquals((await agent.prompt("Hi")).cost.total, null);
});

Deno.test("prices: without token counts, a free model and a model without a price list cost nothing", async () => {
  for (const prices of [{ "other/model": { input: 0, output: 0 } }, undefined]) {
    const { agent, seen } = testAgent([reply("Hello")], { prices, model: "other/model" });
    assertEquals((await agent.prompt("Hi")).cost.total, 0);
    assertEquals(eventsOfType(seen, "warning"), []);
  }
});

Deno.test("prices: without token counts, a reported cost of 0 counts, and an unknown one stays unknown", async () => {
  for (const total of [0, null]) {
    const { agent, seen } = testAgent([reply("Hello", { cost: { ...zeroCost(), total } })], {
      prices,
      model: "other/model",
    });
    assertEquals((await agent.prompt("Hi")).cost.total, total);
    assertEquals(
      eventsOfType(seen, "warning").map(({ code }) => code),
      total === null ? ["unknown_usage"] : [],
    );
  }
});

Deno.test("prices: a failed call without token counts costs nothing", async () => {
  const { agent, seen } = testAgent([fail("network_error", "Reset")], {
    prices,
    model: "other/model",
    retry: () => null,
  });
  assertEquals((await agent.prompt("Hi")).cost.total, 0);
  assertEquals(eventsOfType(seen, "warning"), []);
});

Deno.test("prices: after reset() an unknown price is reported again", async () => {
  const { agent, seen } = testAgent([1, 2].map(() => reply("Hello", { usage: million })), {
    prices,
    model: "other/model",
  });
  await agent.prompt("Hi");
  agent.reset();
  await agent.prompt("Hi");
  assertEquals(eventsOfType(seen, "warning").map(({ code }) => code), [
    "unknown_price",
    "unknown_price",
  ]);
});

Deno.test("prices: an unknown price that a run reports after reset() is reported again by the next run", async () => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
  let calls = 0;
  const { agent, seen } = testAgent([], {
    prices: {},
    async *streamFn({ signal }) {
      yield { type: "start" };
      if (++calls > 1) return yield { type: "done", stopReason: "stop", usage };
      yield { type: "text_start", contentIndex: 0 };
      yield { type: "text_delta", contentIndex: 0, delta: "x" };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield { type: "text_end", contentIndex: 0 };
      yield { type: "error", stopReason: "aborted", error: new AbortedError(), usage };
    },
  });
  atFirst(agent, "message_update", () => agent.reset());
  await agent.prompt("Hi");
  seen.length = 0;
  await agent.prompt("Hi");
  assertEquals(eventsOfType(seen, "warning").length, 1);
});

Deno.test("prices: rates that are no numbers are reported, and the cost is unknown", async () => {
  const { agent, seen } = testAgent([reply("Hello", { usage: million })], {
    prices: () => ({ input: NaN, output: 1 }),
  });
  assertEquals((await agent.prompt("Hi")).cost, unknownCost());
  assertEquals(eventsOfType(seen, "warning").map(({ code, message }) => [code, message]), [
    ["prices_failed", "The price list failed: a rate is not a number of at least 0"],
    ["unknown_price", "No price is known for test/model, so its cost is unknown"],
  ]);
});

Deno.test("prices: a tier whose rates are no numbers is reported, and the cost is unknown", async () => {
  const { agent, seen } = testAgent([reply("Hello", { usage: million })], {
    prices: () => ({
      input: 1,
      output: 1,
      tiers: [{ abovePromptTokens: 10, input: 2, output: NaN }],
    }),
  });
  assertEquals((await agent.prompt("Hi")).cost, unknownCost());
  assertEquals(eventsOfType(seen, "warning")[0]?.code, "prices_failed");
});

Deno.test("prices: a call is priced by its own prompt, not by the tokens of the run", async () => {
  const usage = { ...million, output: 0, total: 1e6 };
  const { agent } = testAgent([reply([toolCall("look")], { usage }), reply("Done", { usage })], {
    tools: [fakeTool({ name: "look" })],
    prices: () => ({
      input: 1,
      output: 1,
      tiers: [{ abovePromptTokens: 1e6, input: 5, output: 5 }],
    }),
  });
  assertEquals((await agent.prompt("Hi")).cost.total, 2);
});

Deno.test("prices: the cost of a tool that reports no tokens counts in the run", async () => {
  const cost = { ...zeroCost(), total: 2 };
  const tool = fakeTool({ name: "search", result: { content: [], cost } });
  const { agent } = testAgent([reply([toolCall("search")]), reply("Done")], { tools: [tool] });
  const result = await agent.prompt("Hi");
  assertEquals([result.usage.total, result.cost.total], [0, 2]);
});

Deno.test("prices: the cost of a tool that reports only its tokens is unknown", async () => {
  const tool = fakeTool({ name: "summarize", result: { content: [], usage: million } });
  const { agent } = testAgent([reply([toolCall("summarize")]), reply("Done")], { tools: [tool] });
  const { usage, cost, messages } = await agent.prompt("Hi");
  assertEquals([usage, cost], [million, unknownCost()]);
  assertEquals(
    messages.flatMap((message) => message.role === "tool_result" ? [message.cost] : []),
    [unknownCost()],
  );
});

Deno.test("prices: a fee that is not known makes the cost unknown, and is reported once per model", async () => {
  const usage = { ...million, extra: { webSearchRequests: 2, mapsRequests: 1 } };
  const { agent, seen } = testAgent([1, 2].map(() => reply("Hello", { usage })), {
    prices: { "test/model": { input: 3, output: 15, requests: { webSearchRequests: 10 } } },
  });
  const { cost } = await agent.prompt("Hi");
  assertEquals([cost.input, cost.total], [3, null]);
  assertEquals(cost.extra, { webSearchRequests: 0.02, mapsRequests: null });
  await agent.prompt("Hi");
  assertEquals(eventsOfType(seen, "warning").map(({ message }) => message), [
    "No price is known for mapsRequests of test/model, so its cost is unknown",
  ]);
});

Deno.test("prices: a fee that is no amount fails the price list", async () => {
  const usage = { ...million, extra: { webSearchRequests: 2 } };
  const { agent, seen } = testAgent([reply("Hello", { usage })], {
    prices: { "test/model": { input: 3, output: 15, requests: { webSearchRequests: NaN } } },
  });
  assertEquals((await agent.prompt("Hi")).cost.total, null);
  assertEquals(eventsOfType(seen, "warning")[0]?.code, "prices_failed");
});

Deno.test("prices: a reply of a cache, which does not call the model that loads the prices, has its cost", async () => {
  let rates: { input: number; output: number } | undefined;
  const connected: StreamFn = Object.assign(scriptedStream([]), {
    prices: () => rates,
    loadFacts: () => Promise.resolve().then(() => void (rates = { input: 3, output: 15 })),
  });
  const cached = scriptedStream([reply("Hello", { usage: million })]);
  const streamFn = wrapStreamFn(connected, (request) => cached(request));
  const agent = new Agent({ model: "test/model", streamFn });
  const warnings: string[] = [];
  agent.subscribe((event) => void (event.type === "warning" && warnings.push(event.code)));
  assertEquals((await agent.prompt("Hi")).cost.total, 18);
  assertEquals(warnings, []);
});

Deno.test("prices: an abort does not wait for prices that do not load", async () => {
  const streamFn: StreamFn = Object.assign(scriptedStream([reply("Hello", { usage: million })]), {
    prices: () => undefined,
    loadFacts: () => new Promise(() => {}),
  });
  const agent = new Agent({ model: "test/model", streamFn });
  agent.subscribe((event) => {
    if (event.type === "message_update") setTimeout(() => agent.abort("enough"), 10);
  });
  const { cost, messages } = await agent.prompt("Hi");
  assertEquals([cost.total, messages.length], [null, 2]);
});

Deno.test("prices: nothing is loaded for a model whose price is known", async () => {
  let loads = 0;
  const streamFn: StreamFn = Object.assign(scriptedStream([reply("Hello", { usage: million })]), {
    prices: () => ({ input: 3, output: 15 }),
    loadFacts: () => Promise.resolve(++loads),
  });
  const { cost } = await new Agent({ model: "test/model", streamFn }).prompt("Hi");
  assertEquals([cost.total, loads], [18, 0]);
});
