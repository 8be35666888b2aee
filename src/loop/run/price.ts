/**
 * Calculates the cost of an attempt.
 *
 * @module
 */

import { type AgentError, getErrorMessage } from "../../core/errors/errors.ts";
import { ignoreRejections, refusePromise } from "../../core/errors/refuse_promise.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { priceUsage } from "../../core/models/price_usage.ts";
import {
  type Cost,
  findRates,
  type Prices,
  type Rates,
  unknownCost,
  type Usage,
  zeroCost,
} from "../../core/models/usage.ts";
import type { StreamFn } from "../../core/streams/stream.ts";
import type { RunServices } from "./run_services.ts";

/** Token counts of an attempt, and the cost that the provider reported. */
export interface ReportedUsage {
  /** The error, if the attempt failed or was aborted. */
  readonly error?: AgentError;
  /** Token counts. */
  readonly usage: Usage;
  /** The cost that the provider reported, if any. */
  readonly reportedCost?: Cost;
}

/** Options for `calculateCost()`. */
export interface CostOptions {
  /** The model that was called. */
  readonly model: ModelSpec;
  /** The prices that are known for the model. */
  readonly prices: Prices | undefined;
}

/** Returns the price list for the models that a function calls; one that cannot be read is none. */
export function getPrices({ config }: RunServices, streamFn: StreamFn): Prices | undefined {
  try {
    return config.prices ?? streamFn.prices;
  } catch {
    return undefined;
  }
}

/**
 * Returns the reported cost if it is not 0, otherwise the cost by the price list. An unknown cost is `null`; a model
 * that is not in the price list is reported once, and so is one that reports no token counts for a complete reply.
 */
export function calculateCost(
  run: RunServices,
  { usage, reportedCost: cost, error }: ReportedUsage,
  { model, prices }: CostOptions,
): Cost {
  if (cost?.total) return cost;
  if (!hasCounts(usage)) {
    if (error || cost?.total === 0 || !prices || isFree(lookUpRates(prices, model))) {
      return zeroCost();
    }
    warnUnknownUsage(run, model);
    return unknownCost();
  }
  const priced = prices && tryPriceUsage(run, usage, { model, prices });
  if (priced?.total === null) warnUnknownParts(run, priced, model);
  if (priced) return priced;
  if (cost?.total === 0) return cost;
  if (prices) warnUnknownPrice(run, `${model.provider}/${model.modelId}`);
  return unknownCost();
}

/** Whether a usage has a count with a price; some servers report only the total. */
function hasCounts({ input, output, cacheRead, cacheWrite }: Usage): boolean {
  return input + output + cacheRead + cacheWrite > 0;
}

/** Whether rates are known and all 0, as those of a model on the own machine. */
function isFree(rates: Rates | undefined): boolean {
  return rates !== undefined && rates.input === 0 && rates.output === 0;
}

function warnUnknownUsage(run: RunServices, { provider, modelId }: ModelSpec): void {
  const message = `${provider}/${modelId} reported no token counts, so its cost is unknown`;
  warnOnce(run, `tokens of ${provider}/${modelId}`, { code: "unknown_usage", message });
}

function warnUnknownPrice(run: RunServices, subject: string): void {
  const message = `No price is known for ${subject}, so its cost is unknown`;
  warnOnce(run, subject, { code: "unknown_price", message });
}

/** Warns once about a model, or a part of its cost, that has no price. */
function warnOnce(
  { events, unpricedModels }: RunServices,
  subject: string,
  { code, message }: { readonly code: string; readonly message: string },
): void {
  if (unpricedModels.has(subject)) return;
  unpricedModels.add(subject);
  void events.warn(code, message);
}

/** Warns about the parts of a cost without a known price, once for each model and part. */
function warnUnknownParts(run: RunServices, { extra, ...amounts }: Cost, model: ModelSpec): void {
  const parts = Object.entries({ ...amounts, total: 0, ...extra });
  for (const [part, amount] of parts) {
    if (amount === null) warnUnknownPrice(run, `${part} of ${model.provider}/${model.modelId}`);
  }
}

/**
 * Returns a copy of the rates of a model; anything but an object is no rates. A price list that fails is reported when the
 * cost of the reply is calculated.
 */
export function lookUpRates(prices: Prices | undefined, model: ModelSpec): Rates | undefined {
  try {
    const rates: unknown = prices && readRates(prices, model);
    return isJsonObject(rates) ? { ...rates } as unknown as Rates : undefined;
  } catch {
    return undefined;
  }
}

function tryPriceUsage(
  run: RunServices,
  usage: Usage,
  { model, prices }: { readonly model: ModelSpec; readonly prices: Prices },
): Cost | undefined {
  try {
    const rates = readRates(prices, model);
    return rates && assertCost(priceUsage(usage, rates));
  } catch (thrown) {
    void run.events.warn("prices_failed", `The price list failed: ${getErrorMessage(thrown)}`);
    return undefined;
  }
}

/**
 * Returns the rates of a model; a price list of untyped code may return anything.
 *
 * @throws {TypeError} If the price list returns a promise, and what else it throws.
 */
function readRates(prices: Prices, model: ModelSpec): Rates | undefined {
  const rates = findRates(prices, model);
  refusePromise(rates, "prices");
  ignoreRejections(rates);
  return rates;
}

/** Checks the rates by their result: a rate that is no number gives a cost that is none. */
function assertCost(cost: Cost): Cost {
  const { extra, ...amounts } = cost;
  const all: readonly (number | null)[] = [
    ...Object.values(amounts),
    ...Object.values(extra ?? {}),
  ];
  if (all.every((amount) => amount === null || (amount >= 0 && amount < Infinity))) return cost;
  throw new TypeError("a rate is not a number of at least 0");
}
