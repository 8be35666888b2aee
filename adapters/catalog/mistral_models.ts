/**
 * Mistral's models, from Mistral's documentation. The price of a preview is the price after it.
 *
 * @module
 */

import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import { efforts, type EntryOverrides, NO_THINKING, rates } from "./entry_builders.ts";

/** Creates the entry of a model with images and without thinking. */
function mistral(overrides: EntryOverrides): CatalogEntry {
  return {
    contextWindow: 262_144,
    maxOutput: 262_144,
    thinking: NO_THINKING,
    images: true,
    strictSchema: true,
    priceDate: "2026-11-20",
    priceSource: "https://mistral.ai/pricing",
    ...overrides,
  };
}

const LARGE_4 = mistral({
  contextWindow: 1_048_576,
  thinking: efforts("none high"),
  rates: rates(1.36, 4.18, 0.14),
});
const LARGE_3 = mistral({ rates: rates(0.5, 1.5) });
const MEDIUM_3_5 = mistral({ thinking: efforts("none high"), rates: rates(1.5, 7.5, 0.15) });
const SMALL_4 = mistral({
  contextWindow: 256_000,
  maxOutput: 256_000,
  thinking: efforts("none high"),
  rates: rates(0.15, 0.6),
});
const DEVSTRAL_2 = mistral({ images: false, rates: rates(0.4, 2) });

const MINISTRAL_3_8B = mistral({ rates: rates(0.15, 0.15) });

/** Mistral's models by id; an id without a version is the latest version. */
export const MISTRAL: Catalog = {
  "mistral-large-4": LARGE_4,
  "mistral-large": LARGE_3,
  "mistral-large-2512": LARGE_3,
  "mistral-medium": MEDIUM_3_5,
  "mistral-medium-3-5": MEDIUM_3_5,
  "mistral-medium-3.5": MEDIUM_3_5,
  "mistral-medium-2604": MEDIUM_3_5,
  "mistral-small": SMALL_4,
  "mistral-small-2603": SMALL_4,
  "devstral": DEVSTRAL_2,
  "devstral-2512": DEVSTRAL_2,
  "codestral": mistral({
    contextWindow: 256_000,
    maxOutput: 4096,
    images: false,
    rates: rates(0.3, 0.9),
  }),
  "ministral-8b": MINISTRAL_3_8B,
  "ministral-8b-2512": MINISTRAL_3_8B,
};
