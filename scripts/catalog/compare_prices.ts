/**
 * Comparison of the catalog with a public price list.
 *
 * @module
 */

import { findModelRates } from "../../adapters/catalog/catalog.ts";
import type { Catalog } from "../../adapters/catalog/catalog_entry.ts";
import type { Rates } from "../../src/core/models/usage.ts";
import type { ListedPrice } from "./price_list.ts";

/** A price that differs from a list. */
export interface PriceDifference {
  /** The model, as `provider/modelId`. */
  readonly model: string;
  /** The price, such as `input`, or `output above 272000` for one of a tier. */
  readonly price: string;
  /** Price in the catalog, in US dollars per million tokens; `null` if it has none. */
  readonly catalog: number | null;
  /** Price in the list, in US dollars per million tokens; `null` if it has none. */
  readonly list: number | null;
}

/** Result of a comparison. */
export interface PriceComparison {
  /** Number of models that are in the catalog and in the list. */
  readonly compared: number;
  /** The prices that differ. */
  readonly differences: readonly PriceDifference[];
}

/** Prices may differ by a thousandth, since lists round the prices of regions. */
const TOLERANCE = 0.001;

/** Compares the prices of a list with those of a catalog. Models that only one of them has are left out. */
export function comparePrices(models: Catalog, list: readonly ListedPrice[]): PriceComparison {
  let compared = 0;
  const differences = list.flatMap(({ provider, modelId, rates }) => {
    const own = findModelRates(models, { provider, modelId });
    if (!own) return [];
    compared++;
    return compareRates(`${provider}/${modelId}`, own, rates);
  });
  return { compared, differences };
}

function compareRates(model: string, own: Rates, listed: Rates): PriceDifference[] {
  const ownPrices = listPrices(own);
  const listedPrices = listPrices(listed);
  const names = new Set([...Object.keys(listedPrices), ...getRequiredNames(ownPrices)]);
  return [...names].flatMap((price) => {
    const catalog = ownPrices[price] ?? getDefault(ownPrices, price);
    const list = listedPrices[price] ?? null;
    return isEqual(catalog, list) ? [] : [{ model, price, catalog, list }];
  });
}

/** Returns the prices by name: `input`, `output above 272000`. */
function listPrices({ tiers = [], ...base }: Rates): Record<string, number> {
  const tierPrices = tiers.flatMap(({ abovePromptTokens, ...tier }) =>
    Object.entries(tier).map(([name, price]) => [`${name} above ${abovePromptTokens}`, price])
  );
  return { ...base, ...Object.fromEntries(tierPrices) };
}

/** Lists leave out prices of caches that they do not know, but not those of a tier. */
function getRequiredNames(prices: Readonly<Record<string, number>>): string[] {
  return Object.keys(prices).filter((name) => /^(?:input|output)\b/.test(name));
}

/** Returns the price that applies in place of a missing price of a cache. */
function getDefault(prices: Readonly<Record<string, number>>, name: string): number | null {
  return prices[name.replace(/^\w+/, "input")] ?? null;
}

function isEqual(left: number | null, right: number | null): boolean {
  if (left === null || right === null) return left === right;
  return Math.abs(left - right) <= TOLERANCE * Math.max(left, right);
}
