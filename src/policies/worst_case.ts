/**
 * Estimates the most that a request can spend.
 *
 * @module
 */

import type { PreRequestContext } from "../core/policy.ts";
import { priceUsage } from "../core/price_usage.ts";
import { estimateTextTokens, estimateTokens, estimateToolTokens } from "../core/tokens.ts";
import {
  type Cost,
  type Rates,
  unknownCost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../core/usage.ts";
import { type BudgetOptions, getPreflightOptions } from "./budget_limits.ts";
import { isKnownAmount, type Spending } from "./run_spending.ts";

/** Output tokens of a reply whose model and request have no known maximum. */
const MAX_OUTPUT_TOKENS = 32_000;

/** The most that a request can spend: its input, and the reply. */
export interface WorstCase {
  /** The input, as estimated from its length. */
  readonly input: Spending;
  /** The input and the longest possible reply. */
  readonly total: Spending;
}

/**
 * Estimates the most that a request can spend. The input is estimated by its length, at the higher of the prices for
 * uncached and newly cached tokens; the reply has the maximum number of tokens that the request, or else the budget, or else the model, allows.
 * A cost without known prices is unknown, or 0 with `unknownPrice: "ignore"`.
 */
export function estimateWorstCase(
  { request, rates, maxOutputTokens }: PreRequestContext,
  options: Pick<BudgetOptions, "unknownPrice" | "preflight">,
): WorstCase {
  const assumed = getPreflightOptions(options).maxOutputTokens ?? maxOutputTokens;
  const { context: { systemPrompt, messages, tools }, options: { maxTokens } } = request;
  let input = estimateTextTokens(systemPrompt) + estimateToolTokens(tools);
  for (const message of messages) input += estimateTokens(message);
  const output = maxTokens ?? assumed ?? MAX_OUTPUT_TOKENS;
  const usages = {
    input: { ...zeroUsage(), input, total: input },
    total: { ...zeroUsage(), input, output, total: input + output },
  };
  return priceWorstCase(usages, rates, options);
}

/** Returns the worst case of the same request to a model with other prices. */
export function changeRates(
  { input, total }: WorstCase,
  rates: Rates | undefined,
  options: Pick<BudgetOptions, "unknownPrice">,
): WorstCase {
  return priceWorstCase({ input: input.usage, total: total.usage }, rates, options);
}

function priceWorstCase(
  { input, total }: Readonly<Record<keyof WorstCase, Usage>>,
  rates: Rates | undefined,
  { unknownPrice }: Pick<BudgetOptions, "unknownPrice">,
): WorstCase {
  const unpriced = unknownPrice === "ignore" ? zeroCost() : unknownCost();
  const toSpending = (usage: Usage): Spending => ({
    usage,
    cost: rates ? priceHighest(usage, rates) : unpriced,
  });
  return { input: toSpending(input), total: toSpending(total) };
}

/** Returns the higher cost of sending the input uncached, and of writing it to the cache. */
function priceHighest(usage: Usage, rates: Rates): Cost {
  const uncached = priceUsage(usage, rates);
  const written = priceUsage({ ...usage, input: 0, cacheWrite: usage.input }, rates);
  return isHigher(written.total, uncached.total) ? written : uncached;
}

function isHigher(left: number | null, right: number | null): boolean {
  return isKnownAmount(left) && isKnownAmount(right) && left > right;
}
