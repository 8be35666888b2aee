/**
 * Google's models, from Google's documentation.
 *
 * Introductory prices are omitted.
 *
 * @module
 */

import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import {
  efforts,
  type EntryOverrides,
  type LongPrompt,
  rates,
  withLongPrompt,
  withRequestFees,
} from "./entry_builders.ts";

/** Creates the entry of a model of generation 3 or later: thinking by effort that cannot be turned off. */
function gemini(overrides: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 1_048_576,
    maxOutput: 65_536,
    thinking: efforts("minimal low medium high", "never"),
    images: true,
    strictSchema: true,
    priceDate: "2026-11-20",
    priceSource: "https://ai.google.dev/gemini-api/docs/pricing",
    ...overrides,
  };
}

/** Creates the entry of a model of generation 2.5: a thinking budget, and either tools or a response schema. */
function budgetGemini(min: number, max: number, overrides: EntryOverrides): CatalogEntry {
  return gemini({ thinking: { type: "budget", min, max }, strictSchema: false, ...overrides });
}

const LONG_PRO_PROMPT: LongPrompt = { above: 200_000, input: 2, output: 1.5 };

/** Models whose searches cost per query. */
const BY_QUERY: Catalog = {
  // A reply of more than 65,536 tokens needs several requests.
  "gemini-4-argon": gemini({
    thinking: efforts("low medium high", "never"),
    temperature: false,
    rates: rates(4, 20, 0.2),
  }),
  "gemini-4-neon": gemini({
    thinking: efforts("low medium high", "never"),
    temperature: false,
    rates: rates(3, 15, 0.15),
  }),
  "gemini-4-hydrogen": gemini({
    thinking: efforts("low medium high", "never"),
    temperature: false,
    rates: rates(1.5, 7.5, 0.075),
  }),
  "gemini-3.8-flash": gemini({
    thinking: efforts("low medium high", "never"),
    rates: rates(1.5, 7.5, 0.15),
  }),
  "gemini-3.7-flash": gemini({
    thinking: efforts("low medium high", "never"),
    rates: rates(1.5, 7.5, 0.15),
  }),
  "gemini-3.6-flash": gemini({ rates: rates(1.5, 7.5, 0.15) }),
  "gemini-3.5-flash": gemini({ rates: rates(1.5, 9, 0.15) }),
  "gemini-3.5-flash-lite": gemini({ rates: rates(0.3, 2.5, 0.03) }),
  "gemini-3.1-pro-preview": gemini({
    thinking: efforts("low medium high", "never"),
    rates: withLongPrompt(rates(2, 12, 0.2), LONG_PRO_PROMPT),
  }),
  "gemini-3.1-flash-lite": gemini({ rates: { ...rates(0.25, 1.5, 0.025), audioInput: 0.5 } }),
  "gemini-3-flash-preview": gemini({ rates: { ...rates(0.5, 3, 0.05), audioInput: 1 } }),
};

/** Models whose searches cost per prompt. */
const BY_PROMPT: Catalog = {
  "gemini-2.5-pro": budgetGemini(128, 32_768, {
    rates: withLongPrompt(rates(1.25, 10, 0.125), LONG_PRO_PROMPT),
  }),
  "gemini-2.5-flash": budgetGemini(0, 24_576, {
    rates: { ...rates(0.3, 2.5, 0.03), audioInput: 1 },
  }),
  "gemini-2.5-flash-lite": budgetGemini(0, 24_576, {
    rates: { ...rates(0.1, 0.4, 0.01), audioInput: 0.3 },
  }),
};

/** Google's models by id, with the fees of searches beyond the free ones. */
export const GOOGLE: Catalog = {
  ...withRequestFees(BY_QUERY, { webSearchRequests: 14 }),
  ...withRequestFees(BY_PROMPT, { webSearchRequests: 35 }),
};
