import { assert, assertEquals } from "@std/assert";
import { priceUsage } from "../../src/core/models/price_usage.ts";
import { findRates } from "../../src/core/models/usage.ts";
import { catalog, findModel, findModelRates, prices, pricesFromCatalog } from "./catalog.ts";

Deno.test("findModel(): finds a model by its id with or without a date", () => {
  for (
    const modelId of [
      "claude-sonnet-4-5",
      "claude-sonnet-4-5-20250929",
      "claude-sonnet-4-5@20250929",
      "claude-sonnet-4-5-latest",
    ]
  ) {
    assertEquals(findModel(catalog, { provider: "anthropic", modelId })?.maxOutput, 64_000);
  }
  assertEquals(
    findModel(catalog, { provider: "openai", modelId: "gpt-4o-2024-08-06" })?.api,
    "chat",
  );
  assertEquals(
    findModel(catalog, { provider: "anthropic", modelId: "claude-opus-4-0" })?.maxOutput,
    32_000,
  );
});

Deno.test("findModel(): finds a Bedrock model with or without region, version and ARN", () => {
  for (
    const modelId of [
      "anthropic.claude-sonnet-4-5",
      "anthropic.claude-sonnet-4-5-20250929-v1:0",
      "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "global.anthropic.claude-sonnet-4-5-20250929-v1:0:200k",
      "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      "arn:aws:bedrock:eu-west-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0",
    ]
  ) {
    assertEquals(findModel(catalog, { provider: "bedrock", modelId })?.maxOutput, 64_000, modelId);
  }
  const nova = findModel(catalog, { provider: "bedrock", modelId: "eu.amazon.nova-pro-v1:0" });
  assertEquals(nova?.contextWindow, 300_000);
  const open = findModel(catalog, { provider: "bedrock", modelId: "openai.gpt-oss-120b-1:0" });
  assertEquals(open?.rates, { input: 0.15, output: 0.6 });
  const getInput = (modelId: string) =>
    findModelRates(catalog, { provider: "bedrock", modelId })?.input;
  assertEquals(getInput("global.openai.gpt-6-sol"), 2);
  assertEquals(getInput("us.openai.gpt-6-sol"), 2.2);
});

Deno.test("findModel(): returns undefined for another provider or id", () => {
  assertEquals(findModel(catalog, { provider: "bedrock", modelId: "gpt-4o" }), undefined);
  assertEquals(findModel(catalog, { provider: "openai", modelId: "gpt-4o-mini-tts" }), undefined);
  assertEquals(findModel(catalog, { provider: "", modelId: "constructor" }), undefined);
});

Deno.test("findModel(): google and gemini are the same provider", () => {
  const entry = findModel(catalog, { provider: "google", modelId: "gemini-2.5-pro" });
  assertEquals(entry?.maxOutput, 65_536);
  assertEquals(findModel(catalog, { provider: "gemini", modelId: "gemini-2.5-pro" }), entry);
  assert(entry);
  const own = { ...entry, maxOutput: 1 };
  const models = { ...catalog, "gemini/tuned": own, "gemini/gemini-2.5-pro": own };
  assertEquals(findModel(models, { provider: "google", modelId: "tuned" }), own);
  assertEquals(findModel(models, { provider: "gemini", modelId: "gemini-2.5-pro" }), own);
  assertEquals(findModel(models, { provider: "google", modelId: "gemini-2.5-pro" }), entry);
});

Deno.test("catalog: every entry has consistent limits, efforts and prices", () => {
  for (const [name, entry] of Object.entries(catalog)) {
    assert(entry.maxOutput <= entry.contextWindow, name);
    if (entry.thinking.type === "budget") assert(entry.thinking.max < entry.maxOutput, name);
    if (entry.thinking.type === "effort") assert(entry.thinking.efforts.length > 0, name);
    if (entry.rates) {
      assert(/^20\d\d-\d\d-\d\d$/.test(entry.priceDate ?? ""), name);
      assert(URL.canParse(entry.priceSource ?? ""), name);
      const { tiers = [], ...base } = entry.rates;
      for (
        const [index, { input, output, cacheRead = 0, cacheWrite }] of [base, ...tiers].entries()
      ) {
        assert(output >= input && cacheRead <= input, name);
        assert(cacheWrite === undefined || cacheWrite >= input, name);
        assert(input >= (tiers[index - 2] ?? base).input, name);
      }
      assertEquals(
        tiers.map(({ abovePromptTokens }) => abovePromptTokens < entry.contextWindow),
        tiers.map(() => !/claude-sonnet-4(?:-5)?$/.test(name)),
        name,
      );
    }
  }
});

Deno.test("pricesFromCatalog(): returns the rates of shipped and added models", () => {
  const model = {
    provider: "anthropic",
    modelId: "claude-haiku-4-5",
    thinkingLevel: "off",
  } as const;
  const rates = findRates(prices, model);
  const requests = { webSearchRequests: 10 };
  assertEquals(rates, {
    input: 1,
    output: 5,
    cacheRead: 0.1,
    cacheWrite: 1.25,
    cacheWriteLong: 2,
    requests,
    factors: { regionalRequests: 1.1 },
  });
  const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, total: 1_000_000 };
  assertEquals(priceUsage(usage, rates ?? { input: 0, output: 0 }).total, 1);
  const ownPrices = pricesFromCatalog({
    "acme/a": {
      contextWindow: 1,
      maxOutput: 1,
      thinking: { type: "none" },
      images: false,
      strictSchema: false,
      rates: { input: 2, output: 3 },
    },
  });
  assertEquals(findRates(ownPrices, { ...model, provider: "acme", modelId: "a" })?.input, 2);
  assertEquals(findRates(ownPrices, model), undefined);
});

Deno.test("prices: local models are free, other unknown models have no price", () => {
  const getRates = (provider: string) =>
    findRates(prices, { provider, modelId: "some-model", thinkingLevel: "off" });
  assertEquals(getRates("ollama"), { input: 0, output: 0 });
  assertEquals(getRates("openai"), undefined);
  for (const modelId of ["glm-5:cloud", "gpt-oss:120b-cloud"]) {
    assertEquals(findModelRates(catalog, { provider: "ollama", modelId }), undefined);
  }
});

Deno.test("findModelRates(): has the prices of long prompts and of long cache writes", () => {
  const getRates = (provider: string, modelId: string) =>
    findModelRates(catalog, { provider, modelId });
  assertEquals(getRates("anthropic", "claude-haiku-5-5"), {
    input: 0.1,
    output: 0.5,
    cacheRead: 0.01,
    cacheWrite: 0.125,
    cacheWriteLong: 0.2,
    requests: { webSearchRequests: 10 },
    factors: { regionalRequests: 1.1 },
    tiers: [{
      abovePromptTokens: 100_000,
      input: 0.5,
      output: 2.5,
      cacheRead: 0.05,
      cacheWrite: 0.625,
      cacheWriteLong: 1,
    }],
  });
  assertEquals(getRates("openai", "gpt-6.1-sol"), {
    input: 2,
    output: 10,
    cacheRead: 0.1,
    cacheWrite: 2.5,
    requests: { webSearchRequests: 10, fileSearchRequests: 2.5 },
    factors: { regionalRequests: 1.1 },
    tiers: [{ abovePromptTokens: 272_000, input: 4, output: 15, cacheRead: 0.2, cacheWrite: 5 }],
  });
  assertEquals(getRates("openai", "gpt-6.2-sol"), getRates("openai", "gpt-6.1-sol"));
  assertEquals(getRates("anthropic", "claude-fable-5-1")?.cacheRead, 0.25);
  assertEquals(getRates("anthropic", "claude-fable-5-2"), {
    input: 8,
    output: 40,
    cacheRead: 0.2,
    cacheWrite: 10,
    cacheWriteLong: 16,
    requests: { webSearchRequests: 10 },
    factors: { regionalRequests: 1.1 },
  });
});

Deno.test("findModelRates(): models of OpenAI since GPT-5.4 have a factor in regions with data residency", () => {
  const getFactor = (modelId: string) =>
    findModelRates(catalog, { provider: "openai", modelId })?.factors?.["regionalRequests"];
  for (const modelId of ["gpt-5.4", "gpt-5.5", "gpt-6.1-sol", "gpt-6.2-sol"]) {
    assertEquals(getFactor(modelId), 1.1, modelId);
  }
  for (const modelId of ["gpt-5", "gpt-5.1-codex", "gpt-4o", "o3"]) {
    assertEquals(getFactor(modelId), 1, modelId);
  }
});

Deno.test("findModelRates(): applies the factor of a Bedrock profile to all prices", () => {
  const getRates = (modelId: string) => findModelRates(catalog, { provider: "bedrock", modelId });
  const base = getRates("anthropic.claude-haiku-5-5");
  assertEquals(getRates("global.anthropic.claude-haiku-5-5"), base);
  const regional = {
    input: 0.11,
    output: 0.55,
    cacheRead: 0.011,
    cacheWrite: 0.1375,
    cacheWriteLong: 0.22,
    tiers: [{
      input: 0.55,
      output: 2.75,
      cacheRead: 0.055,
      cacheWrite: 0.6875,
      cacheWriteLong: 1.1,
      abovePromptTokens: 100_000,
    }],
  };
  for (const profile of ["us", "eu", "apac", "au", "jp"]) {
    assertEquals(getRates(`${profile}.anthropic.claude-haiku-5-5`), regional);
  }
  assertEquals(
    getRates("arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-haiku-5-5"),
    regional,
  );
  assertEquals(getRates("eu.anthropic.claude-opus-4-1-20250805-v1:0")?.input, 15);
  assertEquals(getRates("eu.amazon.nova-micro-v1:0")?.input, 0.046);
});

Deno.test("prices: the regions of Bedrock have their own factors", () => {
  const getInput = (region: string) => {
    const modelId = `${region}anthropic.claude-sonnet-4-5-20250929-v1:0`;
    return findModelRates(catalog, { provider: "bedrock", modelId })?.input ?? NaN;
  };
  const global = getInput("global.");
  const factors = ["us.", "eu.", "us-gov."].map((region) => (getInput(region) / global).toFixed(2));
  assertEquals(factors, ["1.10", "1.10", "1.20"]);
});
