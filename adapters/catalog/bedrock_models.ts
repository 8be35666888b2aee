/**
 * Models of Amazon Bedrock.
 *
 * @module
 */

import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import { efforts, type EntryOverrides, NO_THINKING, rates } from "./entry_builders.ts";

/** Creates the entry of a Bedrock model other than Claude. */
function bedrock(overrides: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 128_000,
    maxOutput: 8192,
    thinking: NO_THINKING,
    images: false,
    strictSchema: false,
    priceDate: "2026-05-01",
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
  }),
  "amazon.nova-2-lite": bedrock({
    contextWindow: 1_000_000,
    maxOutput: 64_000,
    thinking: efforts("low medium high"),
    images: true,
    rates: rates(0.33, 2.75),
  }),
  "amazon.nova-lite": bedrock({
    contextWindow: 300_000,
    maxOutput: 10_000,
    images: true,
    rates: rates(0.06, 0.24, 0.015),
  }),
  "amazon.nova-micro": bedrock({ maxOutput: 10_000, rates: rates(0.035, 0.14, 0.00875) }),
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

/** Creates the models of Bedrock. Claude models have the same entries as at Anthropic. */
export function createBedrockModels(claudeModels: Catalog): Catalog {
  const claudeEntries = Object.entries(claudeModels).map((
    [modelId, entry],
  ) => [`anthropic.${modelId}`, entry]);
  return { ...Object.fromEntries(claudeEntries), ...OTHER_MODELS };
}
