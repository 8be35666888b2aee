/**
 * What a reply costs.
 *
 * @module
 */

import type { ModelSpec } from "../core/model.ts";
import { type Cost, findRates, priceUsage, type Usage, zeroCost } from "../core/usage.ts";
import type { RunContext } from "./run_context.ts";

/** What is known of a reply's use. */
export interface ReportedUsage {
  /** Its tokens. */
  readonly usage: Usage;
  /** What the provider itself says it cost. */
  readonly reportedCost: Cost | undefined;
}

/** The provider's own figure if it gave one, else the price list's; a missing price is told once per model. */
export async function calculateCost(
  run: RunContext,
  model: ModelSpec,
  { usage, reportedCost: told }: ReportedUsage,
): Promise<Cost> {
  if (told && told.total > 0) return told;
  const { prices, memory: { unpriced } } = run.config;
  if (!prices || usage.total === 0) return zeroCost();
  const rates = findRates(prices, model);
  if (rates) return priceUsage(usage, rates);
  const name = `${model.provider}/${model.modelId}`;
  if (!unpriced.has(name)) {
    unpriced.add(name);
    await run.warn(
      "unknown_price",
      `No price is known for ${name}: its tokens are counted, its cost is not`,
    );
  }
  return zeroCost();
}
