/**
 * xAI's models, from xAI's documentation.
 *
 * @module
 */

import type { Rates } from "../../src/core/models/usage.ts";
import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import {
  efforts,
  type EntryOverrides,
  NO_THINKING,
  rates,
  withLongPrompt,
} from "./entry_builders.ts";

/** Creates the entry of a model with thinking by effort, which only the Responses API preserves between turns. */
function grok(overrides: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 500_000,
    maxOutput: 128_000,
    thinking: efforts("low medium high xhigh", "never"),
    images: true,
    strictSchema: true,
    api: "responses",
    priceDate: "2026-11-20",
    priceSource: "https://docs.x.ai/developers/models",
    ...overrides,
  };
}

/** Creates the prices of a model that costs twice as much for prompts of more than 200,000 tokens. */
function grokRates(input: number, output: number, cacheRead: number): Rates {
  return withLongPrompt(rates(input, output, cacheRead), { above: 200_000, input: 2, output: 2 });
}

/** A model that thinks, but whose effort cannot be set. */
const GROK_4_20 = grok({
  contextWindow: 1_000_000,
  maxOutput: 30_000,
  thinking: NO_THINKING,
  rates: grokRates(1.25, 2.5, 0.2),
});

/** xAI's models by id. */
export const XAI: Catalog = {
  "grok-4.7": grok({ rates: grokRates(2, 6, 0.5) }),
  "grok-4.6": grok({ rates: grokRates(2, 6, 0.5) }),
  "grok-4.5": grok({ thinking: efforts("low medium high", "never"), rates: grokRates(2, 6, 0.5) }),
  "grok-4.3": grok({
    contextWindow: 1_000_000,
    thinking: efforts("none low medium high"),
    rates: grokRates(1.25, 2.5, 0.2),
  }),
  "grok-4.20-0309-reasoning": GROK_4_20,
  "grok-4.20-0309-non-reasoning": GROK_4_20,
  "grok-build-0.1": grok({
    contextWindow: 256_000,
    thinking: NO_THINKING,
    rates: grokRates(1, 2, 0.2),
  }),
};
