/**
 * Google's models, after Google's own pages.
 *
 * Where a price depends on the length of the prompt, the one for short prompts is given; introductory prices that end
 * soon are left out.
 *
 * @module
 */

import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import { efforts, type EntryOverrides, rates } from "./entry_builders.ts";

/** A model of the third generation or later: it thinks by level, and cannot be kept from it. */
function gemini(facts: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 1_048_576,
    maxOutput: 65_536,
    thinking: efforts("minimal low medium high", "never"),
    images: true,
    strictSchema: true,
    priceDate: "2026-11-20",
    ...facts,
  };
}

/** A model of generation 2.5: it thinks within a budget, and takes either tools or a schema for the reply. */
function budgetGemini(min: number, max: number, facts: EntryOverrides): CatalogEntry {
  return gemini({ thinking: { type: "budget", min, max }, strictSchema: false, ...facts });
}

/** Google's models by name. */
export const GOOGLE: Catalog = {
  "gemini-4-argon": gemini({
    maxOutput: 1_048_576,
    thinking: efforts("low medium high", "never"),
    temperature: false,
    rates: rates(4, 20, 0.2),
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
    rates: rates(2, 12, 0.2),
  }),
  "gemini-3.1-flash-lite": gemini({ rates: rates(0.25, 1.5, 0.025) }),
  "gemini-3-flash-preview": gemini({ rates: rates(0.5, 3, 0.05) }),
  "gemini-2.5-pro": budgetGemini(128, 32_768, { rates: rates(1.25, 10, 0.125) }),
  "gemini-2.5-flash": budgetGemini(0, 24_576, { rates: rates(0.3, 2.5, 0.03) }),
  "gemini-2.5-flash-lite": budgetGemini(0, 24_576, { rates: rates(0.1, 0.4, 0.01) }),
};
