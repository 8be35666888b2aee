import { assertEquals } from "@std/assert";
import type { Catalog } from "../../adapters/catalog/catalog_entry.ts";
import type { Rates } from "../../src/core/models/usage.ts";
import { comparePrices } from "./compare_prices.ts";
import { explainDifferences } from "./explanations.ts";

const CATALOG: Catalog = {
  "openai/a": {
    contextWindow: 1,
    maxOutput: 1,
    thinking: { type: "none" },
    images: false,
    strictSchema: false,
    rates: {
      input: 1,
      output: 2,
      cacheRead: 0.1,
      tiers: [{ abovePromptTokens: 10, input: 2, output: 4 }],
    },
  },
};

function compare(rates: Rates) {
  return comparePrices(CATALOG, [
    { provider: "openai", modelId: "a", rates },
    { provider: "openai", modelId: "b", rates },
  ]);
}

Deno.test("comparePrices(): reports prices that differ by more than a thousandth", () => {
  const tiers = [{ abovePromptTokens: 10, input: 2, output: 4 }];
  assertEquals(compare({ input: 1.0005, output: 2, tiers }), { compared: 1, differences: [] });
  assertEquals(compare({ input: 1, output: 2.1, cacheRead: 0.2, tiers }).differences, [
    { model: "openai/a", price: "output", catalog: 2, list: 2.1 },
    { model: "openai/a", price: "cacheRead", catalog: 0.1, list: 0.2 },
  ]);
});

Deno.test("comparePrices(): compares a price of caches and audio that the catalog lacks with the price that applies", () => {
  const tiers = [{ abovePromptTokens: 10, input: 2, output: 4, cacheWrite: 2 }];
  assertEquals(compare({ input: 1, output: 2, cacheWrite: 1, tiers }).differences, []);
  assertEquals(compare({ input: 1, output: 2, audioInput: 3, tiers }).differences, [
    { model: "openai/a", price: "audioInput", catalog: 1, list: 3 },
  ]);
  assertEquals(compare({ input: 1, output: 2, cacheWrite: 1.25, tiers }).differences, [
    { model: "openai/a", price: "cacheWrite", catalog: 1, list: 1.25 },
  ]);
});

Deno.test("comparePrices(): reports tiers that only the catalog or only the list has", () => {
  const other = [{ abovePromptTokens: 20, input: 2, output: 4 }];
  assertEquals(compare({ input: 1, output: 2, tiers: other }).differences, [
    { model: "openai/a", price: "input above 20", catalog: null, list: 2 },
    { model: "openai/a", price: "output above 20", catalog: null, list: 4 },
    { model: "openai/a", price: "input above 10", catalog: 2, list: null },
    { model: "openai/a", price: "output above 10", catalog: 4, list: null },
  ]);
});

Deno.test("explainDifferences(): separates explained differences, and returns unused explanations", () => {
  const difference = { model: "openai/a.b", price: "cacheRead", catalog: 1, list: 2 };
  const other = { ...difference, model: "openai/axb" };
  const explanation = { list: "litellm", models: "*/a.?", prices: "cache*", reason: "Rounded" };
  const unused = { ...explanation, prices: "input" };
  assertEquals(
    explainDifferences([difference, other], "litellm", [
      explanation,
      unused,
      { ...explanation, list: "models.dev", models: "*" },
    ]),
    { unexplained: [other], explained: [difference], unused: [unused] },
  );
});
