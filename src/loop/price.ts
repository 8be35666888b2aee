/**
 * Calculates the cost of an attempt.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";
import type { ModelSpec } from "../core/model.ts";
import { refusePromise } from "../core/refuse_promise.ts";
import type { StreamFn } from "../core/stream.ts";
import {
  type Cost,
  findRates,
  type Prices,
  priceUsage,
  type Rates,
  unknownCost,
  type Usage,
  zeroCost,
} from "../core/usage.ts";
import type { RunServices } from "./run_services.ts";

/** Token counts of an attempt, and the cost that the provider reported. */
export interface ReportedUsage {
  /** Token counts. */
  readonly usage: Usage;
  /** The cost that the provider reported, if any. */
  readonly cost?: Cost;
}

/** Options for `calculateCost()`. */
export interface CostOptions {
  /** The model that was called. */
  readonly model: ModelSpec;
  /** The prices that are known for the model. */
  readonly prices: Prices | undefined;
}

/** Returns the price list for the models that a function calls. */
export function getPrices({ config }: RunServices, streamFn: StreamFn): Prices | undefined {
  return config.prices ?? streamFn.prices;
}

/**
 * Returns the reported cost if it is not 0, otherwise the cost by the price list. An unknown cost is `null`; a model
 * that is not in the price list is reported once.
 */
export async function calculateCost(
  run: RunServices,
  { usage, cost }: ReportedUsage,
  { model, prices }: CostOptions,
): Promise<Cost> {
  if (cost?.total) return cost;
  if (usage.total === 0) return zeroCost();
  const rates = prices && findKnownRates(run, prices, model);
  if (rates) return priceUsage(usage, rates);
  if (cost?.total === 0) return cost;
  const name = `${model.provider}/${model.modelId}`;
  if (prices && !run.unpricedModels.has(name)) {
    run.unpricedModels.add(name);
    await run.events.warn("unknown_price", `No price is known for ${name}, so its cost is unknown`);
  }
  return unknownCost();
}

function findKnownRates(run: RunServices, prices: Prices, model: ModelSpec): Rates | undefined {
  try {
    const rates = findRates(prices, model);
    refusePromise(rates, "prices");
    return rates ? assertRates(rates) : undefined;
  } catch (thrown) {
    void run.events.warn("prices_failed", `The price list failed: ${getErrorMessage(thrown)}`);
    return undefined;
  }
}

function assertRates(rates: Rates): Rates {
  for (const part of [rates, ...(rates.tiers ?? [])]) {
    const { input, output, cacheRead = input, cacheWrite = input, cacheWriteLong = input } = part;
    for (const rate of [input, output, cacheRead, cacheWrite, cacheWriteLong]) {
      if (rate >= 0 && rate < Infinity) continue;
      throw new TypeError(`a rate must be a number, not ${rate}`);
    }
  }
  return rates;
}
