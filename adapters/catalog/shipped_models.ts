/**
 * The shipped models by provider, from the documentation of the providers. `deno task catalog:check` compares the prices
 * with a public list.
 *
 * @module
 */

import type { Rates } from "../../src/core/models/usage.ts";
import { createBedrockModels } from "./bedrock_models.ts";
import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import {
  efforts,
  type EntryOverrides,
  NO_THINKING,
  rates,
  withLongPrompt,
  withRegionalFactor,
  withRequestFees,
} from "./entry_builders.ts";
import { GOOGLE } from "./google_models.ts";
import { MISTRAL } from "./mistral_models.ts";
import { XAI } from "./xai_models.ts";

const PRICE_DATE = "2026-11-20";

/** Creates the entry of a model of the Claude 5 family or later. */
function claude(overrides: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 1_000_000,
    maxOutput: 128_000,
    thinking: efforts("low medium high xhigh max", "disabled"),
    images: true,
    strictSchema: true,
    temperature: false,
    prefill: false,
    priceDate: PRICE_DATE,
    priceSource: "https://platform.claude.com/docs/en/about-claude/pricing",
    ...overrides,
  };
}

/** Creates the entry of a Claude model with a thinking budget. */
function budgetClaude(overrides: EntryOverrides): CatalogEntry {
  return claude({
    contextWindow: 200_000,
    maxOutput: 64_000,
    thinking: { type: "budget", min: 1024, max: 60_000 },
    temperature: true,
    prefill: true,
    ...overrides,
  });
}

/** Creates the prices of a Claude model. A cache write for an hour costs twice the price of the input. */
function claudeRates(input: number, output: number, cacheRead: number, cacheWrite: number): Rates {
  return { ...rates(input, output, cacheRead, cacheWrite), cacheWriteLong: 2 * input };
}

/** The header `context-1m-2025-08-07` extends the context window beyond 200,000 tokens. */
const SONNET_4_RATES = withLongPrompt(claudeRates(3, 15, 0.3, 3.75), {
  above: 200_000,
  input: 2,
  output: 1.5,
});

const FABLE_5 = claude({
  thinking: efforts("low medium high xhigh max", "never"),
  rates: claudeRates(10, 50, 1, 12.5),
});
const FABLE_5_1 = claude({
  thinking: efforts("low medium high xhigh max", "never"),
  forcedToolChoice: false,
  contextBoundThinking: true,
  rates: claudeRates(10, 50, 0.25, 12.5),
});

const ANTHROPIC: Catalog = {
  "claude-fable-5-2": claude({
    thinking: efforts("low medium high xhigh max", "never"),
    forcedToolChoice: false,
    contextBoundThinking: true,
    rates: claudeRates(8, 40, 0.2, 10),
  }),
  "claude-fable-5-1": FABLE_5_1,
  "claude-mythos-5-1": FABLE_5_1,
  "claude-opus-5-5": claude({
    thinking: efforts("low medium high xhigh max", "never"),
    forcedToolChoice: false,
    contextBoundThinking: true,
    rates: claudeRates(4, 20, 0.2, 5),
  }),
  "claude-sonnet-5-5": claude({
    thinking: efforts("low medium high xhigh max", "between_tools"),
    forcedToolChoice: false,
    contextBoundThinking: true,
    rates: claudeRates(2, 10, 0.1, 2.5),
  }),
  "claude-haiku-5-5": claude({
    contextBoundThinking: true,
    rates: withLongPrompt(claudeRates(0.1, 0.5, 0.01, 0.125), {
      above: 100_000,
      input: 5,
      output: 5,
    }),
  }),
  "claude-fable-5": FABLE_5,
  "claude-mythos-5": FABLE_5,
  "claude-opus-5": claude({ rates: claudeRates(5, 25, 0.5, 6.25) }),
  "claude-sonnet-5": claude({ rates: claudeRates(2, 10, 0.2, 2.5) }),
  "claude-opus-4-8": claude({
    thinking: efforts("low medium high xhigh max"),
    rates: claudeRates(5, 25, 0.5, 6.25),
  }),
  "claude-opus-4-7": claude({
    thinking: efforts("low medium high xhigh max"),
    rates: claudeRates(5, 25, 0.5, 6.25),
  }),
  "claude-opus-4-6": claude({
    thinking: efforts("low medium high max"),
    temperature: true,
    rates: claudeRates(5, 25, 0.5, 6.25),
  }),
  "claude-sonnet-4-6": claude({
    maxOutput: 64_000,
    thinking: efforts("low medium high max"),
    temperature: true,
    rates: claudeRates(3, 15, 0.3, 3.75),
  }),
  "claude-opus-4-5": budgetClaude({ rates: claudeRates(5, 25, 0.5, 6.25) }),
  "claude-sonnet-4-5": budgetClaude({ rates: SONNET_4_RATES }),
  "claude-haiku-4-5": budgetClaude({ rates: claudeRates(1, 5, 0.1, 1.25) }),
  "claude-opus-4-1": budgetClaude({
    maxOutput: 32_000,
    thinking: { type: "budget", min: 1024, max: 30_000 },
    rates: claudeRates(15, 75, 1.5, 18.75),
  }),
  "claude-opus-4": budgetClaude({
    maxOutput: 32_000,
    thinking: { type: "budget", min: 1024, max: 30_000 },
    strictSchema: false,
    rates: claudeRates(15, 75, 1.5, 18.75),
  }),
  "claude-sonnet-4": budgetClaude({ strictSchema: false, rates: SONNET_4_RATES }),
  "claude-3-7-sonnet": budgetClaude({ strictSchema: false, rates: claudeRates(3, 15, 0.3, 3.75) }),
  "claude-3-5-haiku": budgetClaude({
    maxOutput: 8192,
    thinking: NO_THINKING,
    strictSchema: false,
    rates: claudeRates(0.8, 4, 0.08, 1),
  }),
  "claude-3-haiku": budgetClaude({
    maxOutput: 4096,
    thinking: NO_THINKING,
    strictSchema: false,
    rates: claudeRates(0.25, 1.25, 0.03, 0.3),
  }),
};

/** Creates the entry of an OpenAI model with reasoning. */
function gpt(overrides: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 1_050_000,
    maxOutput: 128_000,
    thinking: efforts("none low medium high xhigh"),
    images: true,
    strictSchema: true,
    temperature: false,
    api: "responses",
    priceDate: PRICE_DATE,
    priceSource: "https://developers.openai.com/api/docs/pricing",
    ...overrides,
  };
}

/** Creates the entry of an OpenAI model without reasoning. */
function chatGpt(overrides: EntryOverrides): CatalogEntry {
  return gpt({
    contextWindow: 128_000,
    maxOutput: 16_384,
    thinking: NO_THINKING,
    temperature: true,
    api: "chat",
    ...overrides,
  });
}

const GPT_5: Partial<CatalogEntry> = {
  contextWindow: 400_000,
  thinking: efforts("minimal low medium high"),
};
const O_SERIES: Partial<CatalogEntry> = {
  contextWindow: 200_000,
  maxOutput: 100_000,
  thinking: efforts("low medium high"),
};

/** Creates the prices of an OpenAI model with a context window above 1,000,000 tokens. */
function gptRates(input: number, output: number, cacheRead?: number, cacheWrite?: number): Rates {
  const base = rates(input, output, cacheRead, cacheWrite);
  return withLongPrompt(base, { above: 272_000, input: 2, output: 1.5 });
}

const OPENAI: Catalog = {
  "gpt-6.2-astra": gpt({
    thinking: efforts("low medium high xhigh max"),
    rates: gptRates(8, 40, 0.4, 10),
  }),
  "gpt-6.2-sol": gpt({
    thinking: efforts("low medium high xhigh max"),
    rates: gptRates(2, 10, 0.1, 2.5),
  }),
  "gpt-6.1-sol": gpt({
    thinking: efforts("low medium high xhigh max"),
    rates: gptRates(2, 10, 0.1, 2.5),
  }),
  "gpt-6-astra": gpt({
    thinking: efforts("low medium high xhigh max"),
    rates: gptRates(10, 50, 1, 12.5),
  }),
  "gpt-6-sol": gpt({
    thinking: efforts("none low medium high xhigh max"),
    rates: gptRates(2, 10, 0.2, 2.5),
  }),
  "gpt-6-luna": gpt({
    thinking: efforts("none low medium high xhigh max"),
    rates: gptRates(0.1, 0.5, 0.01, 0.125),
  }),
  "gpt-5.6": gpt({
    thinking: efforts("none low medium high xhigh max"),
    rates: gptRates(5, 30, 0.5, 6.25),
  }),
  "gpt-5.6-sol": gpt({
    thinking: efforts("none low medium high xhigh max"),
    rates: gptRates(5, 30, 0.5, 6.25),
  }),
  "gpt-5.6-luna": gpt({
    thinking: efforts("none low medium high xhigh max"),
    rates: gptRates(0.2, 1.2, 0.02, 0.25),
  }),
  "gpt-5.6-terra": gpt({
    thinking: efforts("none low medium high xhigh max"),
    rates: gptRates(2, 12, 0.2, 2.5),
  }),
  "gpt-5.5": gpt({ rates: gptRates(5, 30, 0.5) }),
  "gpt-5.5-pro": gpt({ thinking: efforts("medium high xhigh"), rates: gptRates(30, 180) }),
  "gpt-5.4": gpt({ rates: gptRates(2.5, 15, 0.25) }),
  "gpt-5.4-mini": gpt({ contextWindow: 400_000, rates: rates(0.75, 4.5, 0.075) }),
  "gpt-5.4-nano": gpt({ contextWindow: 400_000, rates: rates(0.2, 1.25, 0.02) }),
  "gpt-5.4-pro": gpt({ thinking: efforts("medium high xhigh"), rates: gptRates(30, 180) }),
  "gpt-5.3-codex": gpt({ contextWindow: 400_000, rates: rates(1.75, 14, 0.175) }),
  "gpt-5.2": gpt({ contextWindow: 400_000, rates: rates(1.75, 14, 0.175) }),
  "gpt-5.2-codex": gpt({
    contextWindow: 400_000,
    thinking: efforts("low medium high xhigh"),
    rates: rates(1.75, 14, 0.175),
  }),
  "gpt-5.1": gpt({
    contextWindow: 400_000,
    thinking: efforts("none low medium high"),
    rates: rates(1.25, 10, 0.125),
  }),
  "gpt-5.1-codex": gpt({
    contextWindow: 400_000,
    thinking: efforts("low medium high"),
    rates: rates(1.25, 10, 0.125),
  }),
  "gpt-5": gpt({ ...GPT_5, rates: rates(1.25, 10, 0.125) }),
  "gpt-5-mini": gpt({ ...GPT_5, rates: rates(0.25, 2, 0.025) }),
  "gpt-5-nano": gpt({ ...GPT_5, rates: rates(0.05, 0.4, 0.005) }),
  "gpt-5-codex": gpt({
    contextWindow: 400_000,
    thinking: efforts("low medium high"),
    rates: rates(1.25, 10, 0.125),
  }),
  "gpt-5-pro": gpt({
    contextWindow: 400_000,
    maxOutput: 272_000,
    thinking: efforts("high"),
    rates: rates(15, 120),
  }),
  "gpt-5-chat-latest": chatGpt({ rates: rates(1.25, 10, 0.125) }),
  "o4-mini": gpt({ ...O_SERIES, rates: rates(1.1, 4.4, 0.275) }),
  "o3": gpt({ ...O_SERIES, rates: rates(2, 8, 0.5) }),
  "o3-mini": gpt({ ...O_SERIES, images: false, rates: rates(1.1, 4.4, 0.55) }),
  "o3-pro": gpt({ ...O_SERIES, rates: rates(20, 80) }),
  "o1": gpt({ ...O_SERIES, rates: rates(15, 60, 7.5) }),
  "gpt-4.1": chatGpt({ contextWindow: 1_047_576, maxOutput: 32_768, rates: rates(2, 8, 0.5) }),
  "gpt-4.1-mini": chatGpt({
    contextWindow: 1_047_576,
    maxOutput: 32_768,
    rates: rates(0.4, 1.6, 0.1),
  }),
  "gpt-4.1-nano": chatGpt({
    contextWindow: 1_047_576,
    maxOutput: 32_768,
    rates: rates(0.1, 0.4, 0.025),
  }),
  "gpt-4o": chatGpt({ rates: rates(2.5, 10, 1.25) }),
  "gpt-4o-2024-05-13": chatGpt({ maxOutput: 4096, strictSchema: false, rates: rates(5, 15) }),
  "gpt-4o-mini": chatGpt({ rates: rates(0.15, 0.6, 0.075) }),
  "gpt-4-turbo": chatGpt({ maxOutput: 4096, strictSchema: false, rates: rates(10, 30) }),
  "gpt-3.5-turbo": chatGpt({
    contextWindow: 16_385,
    maxOutput: 4096,
    images: false,
    strictSchema: false,
    rates: rates(0.5, 1.5),
  }),
};

const DEEPSEEK_V4: Partial<CatalogEntry> = {
  maxOutput: 384_000,
  thinking: efforts("high max", "disabled"),
  images: false,
  strictSchema: false,
  temperature: true,
  api: "chat",
  priceSource: "https://api-docs.deepseek.com/quick_start/pricing",
};

const DEEPSEEK: Catalog = {
  "deepseek-v4-pro": gpt({
    ...DEEPSEEK_V4,
    contextWindow: 1_000_000,
    rates: rates(0.435, 0.87, 0.003625),
  }),
  "deepseek-v4-flash": gpt({
    ...DEEPSEEK_V4,
    contextWindow: 1_000_000,
    rates: rates(0.14, 0.28, 0.0028),
  }),
};

/** Fees of server tools, which Bedrock does not have. The price of executed code depends on the hours of its container. */
const ANTHROPIC_FEES = { webSearchRequests: 10 };

/** Fees of server tools, which differ at Azure. The price of executed code depends on the lifetime of its container. */
const OPENAI_FEES = { webSearchRequests: 10, fileSearchRequests: 2.5 };

/** Returns the factor of OpenAI's regions, which cost more for models since March 5, 2026: GPT-5.4 and later. */
function getOpenAIFactor(modelId: string): number {
  return /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)/.test(modelId) ? 1.1 : 1;
}

/** All shipped models by `provider/modelId`. */
export const CATALOG_MODELS: Catalog = {
  ...prefixModelIds(
    "anthropic",
    withRegionalFactor(withRequestFees(ANTHROPIC, ANTHROPIC_FEES), () => 1.1),
  ),
  ...prefixModelIds(
    "bedrock",
    createBedrockModels({ claudeModels: ANTHROPIC, gptModels: OPENAI }),
  ),
  ...prefixModelIds(
    "openai",
    withRegionalFactor(withRequestFees(OPENAI, OPENAI_FEES), getOpenAIFactor),
  ),
  ...prefixModelIds("deepseek", DEEPSEEK),
  ...prefixModelIds("google", GOOGLE),
  ...prefixModelIds("mistral", MISTRAL),
  ...prefixModelIds("xai", XAI),
  // A deployment may have any name, but most have the name of their model.
  ...prefixModelIds("azure", OPENAI),
};

function prefixModelIds(provider: string, models: Catalog): Catalog {
  return Object.fromEntries(
    Object.entries(models).map(([modelId, entry]) => [`${provider}/${modelId}`, entry]),
  );
}
