import { assertEquals } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import type { Policy } from "../core/hooks/policy.ts";
import { modelSpec } from "../core/models/model.ts";
import { fail, reply } from "../testing/script.ts";
import { scriptedStream } from "../testing/scripted_stream.ts";
import { budget } from "./budget.ts";
import type { BudgetOptions } from "./budget_limits.ts";
import { sharedBudget } from "./shared_budget.ts";

const usage = { input: 5, output: 5, cacheRead: 0, cacheWrite: 0, total: 10 };

interface FallbackCase {
  readonly create: (options: BudgetOptions) => Policy;
  /** Limit of the budget. */
  readonly tokens: number;
  /** Maximum number of output tokens of the fallback model. */
  readonly maximum?: number | undefined;
  /** Maximum of every reply. */
  readonly maxTokens?: number | undefined;
}

/** Whether a fallback model is called after a model whose replies have at most 50 tokens. */
async function callsFallback(
  { create, tokens, maximum, maxTokens }: FallbackCase,
): Promise<boolean> {
  const spare = Object.assign(scriptedStream([reply("Done", { usage })]), {
    maxOutputTokens: () => maximum,
  });
  const streamFn = Object.assign(scriptedStream([fail("network_error", "down")]), {
    maxOutputTokens: () => 50,
  });
  const agent = new Agent({
    model: "any/model",
    streamFn,
    policies: [create({ tokens, preflight: true })],
    streamOptions: { maxTokens },
    retry: () => null,
    fallback: [{ model: modelSpec("other/spare"), streamFn: spare }],
  });
  await agent.prompt("Go");
  assertEquals(streamFn.calls.length, 1);
  return spare.calls.length === 1;
}

for (const [name, create] of Object.entries({ budget, sharedBudget })) {
  Deno.test(`${name}() with preflight: a fallback model is checked with its own maximum of output tokens`, async () => {
    // The input has 5 tokens.
    const run = (tokens: number, options: Partial<FallbackCase> = {}) =>
      callsFallback({ create, tokens, ...options });
    assertEquals([await run(205, { maximum: 200 }), await run(204, { maximum: 200 })], [
      true,
      false,
    ]);
    assertEquals([await run(55, { maximum: 20 })], [true], "a smaller maximum");
    assertEquals([await run(32_005), await run(32_004)], [true, false], "an unknown maximum");
    const limited = { maximum: 200, maxTokens: 30 };
    assertEquals([await run(60, limited)], [true], "maxTokens applies to all models");
  });
}

Deno.test("budget(), sharedBudget() with preflight: audio has the price of audio, also at a fallback model", async () => {
  const source = { type: "base64", data: "A".repeat(680 * 100) } as const;
  const audio = { type: "audio", mediaType: "audio/wav", source } as const;
  const plain = { input: 1_000_000, output: 1_000_000 };
  const withPrice = { ...plain, audioInput: 3_000_000 };
  // 100 tokens of audio, 4 of the message and 50 of the reply;.
  const countCalls = async (create: FallbackCase["create"], cost: number, isFallback: boolean) => {
    const spare = scriptedStream([reply("Done", { usage })]);
    const streamFn = scriptedStream([fail("network_error", "down")]);
    const agent = new Agent({
      model: "any/model",
      streamFn,
      policies: [create({ cost, preflight: true })],
      streamOptions: { maxTokens: 50 },
      prices: { "any/model": isFallback ? plain : withPrice, "other/spare": withPrice },
      retry: () => null,
      fallback: isFallback ? [{ model: modelSpec("other/spare"), streamFn: spare }] : [],
    });
    await agent.prompt([{ role: "user", content: [audio], timestamp: 0 }]);
    return streamFn.calls.length + spare.calls.length;
  };
  for (const create of [budget, sharedBudget]) {
    assertEquals(await countCalls(create, 354, false), 1);
    assertEquals(await countCalls(create, 353, false), 0);
    assertEquals(await countCalls(create, 353, true), 1);
    assertEquals(await countCalls(create, 1000, true), 2);
  }
});

Deno.test("budget() with preflight: a limit or a maximum that is no number does not disable the check", async () => {
  for (const maximum of [NaN, -100_000, Infinity, "many" as unknown as number]) {
    assertEquals(await callsFallback({ create: budget, tokens: 31_000, maximum }), false);
  }
});
