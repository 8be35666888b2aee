/**
 * Models of Amazon Bedrock.
 *
 * @module
 */

import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import { efforts, type EntryOverrides, NO_THINKING, rates } from "./entry_builders.ts";

const PRICE_SOURCE = "https://aws.amazon.com/bedrock/pricing/";

/** Claude models since version 4.5, and GPT models, cost 10 % more through the profile of a region than through `global`. */
const REGION_FACTORS = {
  us: 1.1,
  eu: 1.1,
  apac: 1.1,
  au: 1.1,
  ca: 1.1,
  jp: 1.1,
  "us-gov": 1.2,
};
/** Matches the GPT models that Bedrock has behind this API, of OpenAI's models. */
const GPT_MODELS = /^gpt-(?:5\.6-|6)/;
const CLAUDE_WITHOUT_REGION_FACTORS = /^claude-(?:3|opus-4$|opus-4-1$|sonnet-4$)/;

/** Creates the entry of a Bedrock model other than Claude. */
function bedrock(overrides: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 128_000,
    maxOutput: 8192,
    thinking: NO_THINKING,
    images: false,
    strictSchema: false,
    priceDate: "2026-05-01",
    priceSource: PRICE_SOURCE,
    ...overrides,
  };
}

const OTHER_MODELS: Catalog = {
  "amazon.nova-premier": bedrock({
    contextWindow: 1_000_000,
    maxOutput: 10_000,
    images: true,
    rates: rates(2.5, 12.5, 0.625),
  }),
  "amazon.nova-pro": bedrock({
    contextWindow: 300_000,
    maxOutput: 10_000,
    images: true,
    rates: rates(0.8, 3.2, 0.2),
    regionFactors: { eu: 1.3125, apac: 1.05 },
  }),
  "amazon.nova-2-lite": bedrock({
    contextWindow: 1_000_000,
    maxOutput: 64_000,
    thinking: efforts("low medium high"),
    images: true,
    rates: rates(0.3, 2.5, 0.075),
    regionFactors: { us: 1.1, eu: 1.1, apac: 1.1, jp: 1.1 },
  }),
  "amazon.nova-lite": bedrock({
    contextWindow: 300_000,
    maxOutput: 10_000,
    images: true,
    rates: rates(0.06, 0.24, 0.015),
    regionFactors: { eu: 1.3, apac: 1.05 },
  }),
  "amazon.nova-micro": bedrock({
    maxOutput: 10_000,
    rates: rates(0.035, 0.14, 0.00875),
    regionFactors: { eu: 0.046 / 0.035, apac: 0.037 / 0.035 },
  }),
  "openai.gpt-oss-120b": bedrock({
    maxOutput: 128_000,
    thinking: efforts("low medium high"),
    rates: rates(0.15, 0.6),
  }),
  "openai.gpt-oss-20b": bedrock({
    maxOutput: 128_000,
    thinking: efforts("low medium high"),
    rates: rates(0.07, 0.3),
  }),
  "deepseek.r1": bedrock({ maxOutput: 32_768, rates: rates(1.35, 5.4) }),
  "meta.llama4-maverick-17b-instruct": bedrock({
    contextWindow: 1_000_000,
    images: true,
    rates: rates(0.24, 0.97),
  }),
  "meta.llama4-scout-17b-instruct": bedrock({
    contextWindow: 3_500_000,
    images: true,
    rates: rates(0.17, 0.66),
  }),
  "meta.llama3-3-70b-instruct": bedrock({ rates: rates(0.72, 0.72) }),
};

/** Creates the models of Bedrock. Those of Anthropic and OpenAI have the same entries as there, apart from their regions. */
export function createBedrockModels(
  { claudeModels, gptModels }: { readonly claudeModels: Catalog; readonly gptModels: Catalog },
): Catalog {
  const claudeEntries = Object.entries(claudeModels).map(([modelId, entry]) => {
    const regionFactors = CLAUDE_WITHOUT_REGION_FACTORS.test(modelId) ? {} : REGION_FACTORS;
    return [`anthropic.${modelId}`, { ...entry, regionFactors, priceSource: PRICE_SOURCE }];
  });
  const gptEntries = Object.entries(gptModels)
    .filter(([modelId]) => GPT_MODELS.test(modelId))
    .map(([modelId, { api: _api, ...entry }]) => [`openai.${modelId}`, {
      ...entry,
      strictSchema: false,
      regionFactors: REGION_FACTORS,
      priceSource: PRICE_SOURCE,
    }]);
  return {
    ...Object.fromEntries(claudeEntries),
    ...Object.fromEntries(gptEntries),
    ...OTHER_MODELS,
  };
}
