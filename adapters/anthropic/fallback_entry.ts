/**
 * Abilities of Claude models that are not in the catalog.
 *
 * @module
 */

import type { CatalogEntry } from "../catalog/catalog_entry.ts";

/** Assumed for a Claude model that is not in the catalog: the abilities of a recent one. */
export const FALLBACK_CLAUDE: CatalogEntry = {
  contextWindow: 200_000,
  maxOutput: 32_000,
  thinking: { type: "effort", efforts: ["low", "medium", "high"] },
  images: true,
  strictSchema: false,
  prefill: false,
};
