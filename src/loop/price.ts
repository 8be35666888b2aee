/**
 * Calculates the cost of an attempt.
 *
 * @module
 */

import type { ModelSpec } from "../core/model.ts";
import { type Cost, findRates, priceUsage, type Usage, zeroCost } from "../core/usage.ts";
import type { RunServices } from "./run_services.ts";

/** Token counts of an attempt, and the cost that the provider reported. */
export interface ReportedUsage {
  /** Token counts. */
  readonly usage: Usage;
  /** The cost that the provider reported, if any. */
  readonly cost?: Cost;
}

/**
 * Returns the reported cost if it is not 0, otherwise the cost by the price list. Warns once per model without a price.
 */
export async function calculateCost(
  { config: { prices }, events, unpricedModels }: RunServices,
  model: ModelSpec,
  { usage, cost }: ReportedUsage,
): Promise<Cost> {
  if (cost && cost.total > 0) return cost;
  if (!prices || usage.total === 0) return zeroCost();
  const rates = findRates(prices, model);
  if (rates) return priceUsage(usage, rates);
  const name = `${model.provider}/${model.modelId}`;
  if (!unpricedModels.has(name)) {
    unpricedModels.add(name);
    const text = `No price is known for ${name}, so its cost is counted as 0`;
    await events.warn("unknown_price", text);
  }
  return zeroCost();
}
