import { assertAlmostEquals, assertEquals } from "@std/assert";
import { priceUsage } from "./price_usage.ts";
import type { Rates } from "./usage.ts";

Deno.test("priceUsage() applies rates per million tokens, with the input rate for the cache by default", () => {
  const usage = {
    input: 1_000_000,
    output: 500_000,
    cacheRead: 100_000,
    cacheWrite: 10_000,
    total: 0,
  };
  const cost = priceUsage(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 });
  assertEquals(cost.input, 3);
  assertEquals(cost.output, 7.5);
  assertAlmostEquals(cost.cacheRead ?? NaN, 0.03);
  assertAlmostEquals(cost.cacheWrite ?? NaN, 0.0375);
  assertAlmostEquals(cost.total ?? NaN, 10.5675);
  assertAlmostEquals(priceUsage(usage, { input: 3, output: 15 }).cacheRead ?? NaN, 0.3);
});

Deno.test("priceUsage() applies the highest tier that the prompt exceeds to the whole call", () => {
  const rates: Rates = {
    input: 1,
    output: 2,
    cacheRead: 0.1,
    tiers: [
      { abovePromptTokens: 100, input: 10, output: 20, cacheRead: 1, cacheWrite: 15 },
      { abovePromptTokens: 200, input: 100, output: 200 },
    ],
  };
  const price = (input: number, cacheRead: number, cacheWrite: number) => {
    const { total: _total, ...cost } = priceUsage(
      {
        input: input * 1e6,
        cacheRead: cacheRead * 1e6,
        cacheWrite: cacheWrite * 1e6,
        output: 1e6,
        total: 0,
      },
      {
        ...rates,
        tiers: rates.tiers?.map((tier) => ({
          ...tier,
          abovePromptTokens: tier.abovePromptTokens * 1e6,
        })) ?? [],
      },
    );
    return cost;
  };
  assertEquals(price(60, 20, 20), { input: 60, output: 2, cacheRead: 2, cacheWrite: 20 });
  assertEquals(price(60, 20, 21), { input: 600, output: 20, cacheRead: 20, cacheWrite: 315 });
  assertEquals(price(181, 0, 20), { input: 18_100, output: 200, cacheRead: 0, cacheWrite: 2000 });
});

Deno.test("priceUsage() applies the rate of long cache writes to their share of the cache writes", () => {
  const price = (cacheWriteLong: number, rates: Partial<Rates>) =>
    priceUsage(
      { input: 0, output: 0, cacheRead: 0, cacheWrite: 1e6, total: 1e6, extra: { cacheWriteLong } },
      { input: 1, output: 1, ...rates },
    ).cacheWrite;
  assertEquals(price(250_000, { cacheWrite: 4, cacheWriteLong: 8 }), 5);
  assertEquals(price(250_000, { cacheWrite: 4 }), 4);
  assertEquals(price(250_000, {}), 1);
  assertEquals(price(5e6, { cacheWriteLong: 8 }), 8);
});

Deno.test("priceUsage() does not know the price of cache writes for another time, except by a rate of their own", () => {
  const usage = {
    input: 1e6,
    output: 0,
    cacheRead: 0,
    cacheWrite: 2e6,
    total: 3e6,
    extra: { cacheWriteLong: 5e5, cacheWriteOther: 1e6 },
  };
  const rates: Rates = { input: 1, output: 1, cacheWrite: 2, cacheWriteLong: 4 };
  const { input, cacheWrite, total } = priceUsage(usage, rates);
  assertEquals([input, cacheWrite, total], [1, null, null]);
  assertEquals(priceUsage(usage, { ...rates, cacheWriteOther: 10 }).cacheWrite, 13);
  // Shares that exceed the cache writes are cut off.
  const long = { ...usage, extra: { cacheWriteLong: 2e6, cacheWriteOther: 1e6 } };
  assertEquals(priceUsage(long, rates).cacheWrite, 8);
  const other = { ...usage, extra: { cacheWriteLong: 15e5, cacheWriteOther: 1e6 } };
  assertEquals(priceUsage(other, { ...rates, cacheWriteOther: 10 }).cacheWrite, 11);
});

Deno.test("priceUsage() adds the fees of requests, and does not know the total if a fee is not known", () => {
  const price = (extra: Record<string, number>, requests?: Rates["requests"]) => {
    const usage = { input: 1e6, output: 0, cacheRead: 0, cacheWrite: 0, total: 1e6, extra };
    const { total, extra: fees } = priceUsage(usage, { input: 1, output: 1, requests });
    return [total, fees];
  };
  const searches = { webSearchRequests: 10 };
  assertEquals(price({ webSearchRequests: 300 }, searches), [4, { webSearchRequests: 3 }]);
  assertEquals(price({ webSearchRequests: 300 }), [null, { webSearchRequests: null }]);
  assertEquals(price({ webSearchRequests: 300, toStringRequests: 1 }, searches), [
    null,
    { webSearchRequests: 3, toStringRequests: null },
  ]);
  assertEquals(price({ webSearchRequests: 0, reasoning: 5 }, searches), [1, undefined]);
});

Deno.test("priceUsage() adds the fees of requests to the prices of long prompts, too", () => {
  const usage = {
    input: 2e6,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    total: 2e6,
    extra: { webSearchRequests: 1000 },
  };
  const tiers = [{ abovePromptTokens: 1e6, input: 2, output: 2 }];
  const rates = { input: 1, output: 1, tiers, requests: { webSearchRequests: 10 } };
  assertEquals(priceUsage(usage, rates).total, 14);
});

Deno.test("priceUsage() multiplies the prices of tokens by the factors of the requests that were counted", () => {
  const usage = {
    input: 1e6,
    output: 1e6,
    cacheRead: 1e6,
    cacheWrite: 2e6,
    total: 5e6,
    extra: { regionalRequests: 1, webSearchRequests: 1000, cacheWriteLong: 1e6 },
  };
  const prices = { input: 1, output: 2, cacheRead: 4, cacheWrite: 8, cacheWriteLong: 16 };
  const rates: Rates = {
    ...prices,
    requests: { webSearchRequests: 10 },
    factors: { regionalRequests: 1.5, nightRequests: 7 },
  };
  const expected = { input: 1.5, output: 3, cacheRead: 6, cacheWrite: 36 };
  assertEquals(priceUsage(usage, rates), {
    ...expected,
    total: 56.5,
    extra: { webSearchRequests: 10 },
  });
  const tier = { ...prices, abovePromptTokens: 1e6 };
  assertEquals(priceUsage(usage, { ...rates, input: 0, tiers: [tier] }).total, 56.5);
  const other = { ...usage, extra: { webSearchRequests: 1000, regionalRequests: 0 } };
  assertEquals(priceUsage(other, rates).input, 1);
  // Without a factor, or with a price of cache writes that is not known, the cost is not known.
  assertEquals(priceUsage(usage, { ...rates, factors: {} }).total, null);
  const writes = { ...usage, extra: { regionalRequests: 1, cacheWriteOther: 1 } };
  assertEquals(priceUsage(writes, rates).cacheWrite, null);
});

Deno.test("priceUsage() applies the price of audio to the audio of the prompt, and in proportion to that in the cache", () => {
  const extra = { audioInput: 800_000, audioCacheRead: 500_000 };
  const usage = {
    input: 1_000_000,
    output: 0,
    cacheRead: 1_000_000,
    cacheWrite: 0,
    total: 0,
    extra,
  };
  const withPrice = priceUsage(usage, { input: 0.3, output: 2.5, cacheRead: 0.03, audioInput: 1 });
  assertAlmostEquals(withPrice.input ?? NaN, 0.06 + 0.8);
  assertAlmostEquals(withPrice.cacheRead ?? NaN, 0.015 + 0.05);
  const without = priceUsage(usage, { input: 0.3, output: 2.5, cacheRead: 0.03 });
  assertAlmostEquals(without.input ?? NaN, 0.3);
  assertAlmostEquals(without.cacheRead ?? NaN, 0.03);
});
