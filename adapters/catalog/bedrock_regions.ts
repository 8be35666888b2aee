/**
 * Cross-region inference profiles of Amazon Bedrock.
 *
 * @module
 */

import type { Rates } from "../../src/core/models/usage.ts";
import type { CatalogEntry } from "./catalog_entry.ts";
import { scaleRates } from "./entry_builders.ts";

/** Matches the profile of a model id such as `us.anthropic.…`, with the ARN before it if there is one. */
const PROFILE = /^(?:arn:.*\/)?(?:(us|eu|apac|au|ca|jp|us-gov|global)\.)?(?=[a-z0-9]+\.)/;

/** Returns a model id without its profile and ARN. */
export function removeProfile(modelId: string): string {
  return modelId.replace(PROFILE, "");
}

/** Returns the prices of an entry for the profile of a model id. */
export function getRegionalRates(entry: CatalogEntry, modelId: string): Rates | undefined {
  const { rates, regionFactors } = entry;
  const [, profile = ""] = regionFactors ? PROFILE.exec(modelId) ?? [] : [];
  const factor = regionFactors?.[profile];
  return rates && factor !== undefined ? scaleRates(rates, factor) : rates;
}
