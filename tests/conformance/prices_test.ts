import { assertAlmostEquals, assertEquals } from "@std/assert";
import type { Prices, Usage } from "../../src/core/usage.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fail, reply } from "../../src/testing/script.ts";
import { eventsOfType } from "./outline.ts";
import { InstantClock, scriptedPorts } from "./ports.ts";
import { testAgent } from "./test_agent.ts";

const million: Usage = { input: 1e6, output: 1e6, cacheRead: 0, cacheWrite: 0, total: 2e6 };
const prices: Prices = { "test/model": { input: 3, output: 15 }, spare: { input: 1, output: 2 } };

Deno.test("a reply carries its cost when it ends, by the price list [A53]", async () => {
  const { agent } = testAgent([reply("Hello", { usage: million })], { prices });
  const events = await checkEvents(agent.promptStream("Hi"));
  const said = eventsOfType(events, "message_end").at(-1)?.message;
  assertEquals(said?.role === "assistant" && said.cost, {
    input: 3,
    output: 15,
    cacheRead: 0,
    cacheWrite: 0,
    total: 18,
  });
});

Deno.test("what the provider itself says it cost beats every list, unless it says nothing [A53]", async () => {
  const told = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 7 };
  const { agent } = testAgent([
    reply("Hello", { usage: million, cost: told }),
    reply("Hello", { usage: million, cost: { ...told, total: 0 } }),
  ], { prices: () => ({ input: 1, output: 1 }) });
  assertEquals((await agent.prompt("Hi")).cost.total, 7);
  assertEquals((await agent.prompt("Hi")).cost.total, 2);
});

Deno.test("an unknown price counts the tokens, and is told once for each model [A53]", async () => {
  const { agent, seen } = testAgent([1, 2, 3].map(() => reply("Hello", { usage: million })), {
    prices,
    model: "other/model",
  });
  const first = await agent.prompt("Hi");
  await agent.prompt("Hi");
  agent.setModel("third/model");
  await agent.prompt("Hi");
  assertEquals([first.usage.total, first.cost.total], [2e6, 0]);
  assertEquals(eventsOfType(seen, "warning").map(({ code, message }) => [code, message]), [
    [
      "unknown_price",
      "No price is known for other/model: its tokens are counted, its cost is not",
    ],
    [
      "unknown_price",
      "No price is known for third/model: its tokens are counted, its cost is not",
    ],
  ]);
});

Deno.test("each attempt is priced at the rates of the model that made it", async () => {
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
  assertAlmostEquals(cost.total, 18 + 3);
  assertEquals(usage.total, 4e6);
});
