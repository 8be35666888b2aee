/**
 * Estimates the most that a request can spend.
 *
 * @module
 */

import type { OnDeltaContext, PreRequestContext } from "../core/hooks/policy.ts";
import { priceUsage } from "../core/models/price_usage.ts";
import {
  type Cost,
  type Rates,
  unknownCost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../core/models/usage.ts";
import {
  estimateAudioTokens,
  estimateTextTokens,
  estimateTokens,
  estimateToolTokens,
} from "../core/streams/tokens.ts";
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
  /** Maximum number of output tokens that holds for every model; `undefined` if it is that of the model. */
  readonly maxTokens: number | undefined;
}

/**
 * Estimates the most that a request can spend. The input is estimated by its length, at the higher of the prices for
 * uncached and newly cached tokens, and audio at that of audio; the reply has the maximum number of tokens that the
 * request, or else the budget, or else the model, allows.
 * A cost without known prices is unknown, or 0 with `unknownPrice: "ignore"`.
 */
export function estimateWorstCase(
  { request, rates, maxOutputTokens }: PreRequestContext,
  options: Pick<BudgetOptions, "unknownPrice" | "preflight">,
): WorstCase {
  const { context: { systemPrompt, messages, tools } } = request;
  let input = estimateTextTokens(systemPrompt) + estimateToolTokens(tools);
  let audioInput = 0;
  for (const message of messages) {
    input += estimateTokens(message);
    audioInput += estimateAudioTokens(message);
  }
  const maxTokens = request.options.maxTokens ?? getPreflightOptions(options).maxOutputTokens;
  return priceWorstCase({ input, audioInput, maxTokens }, { rates, maxOutputTokens }, options);
}

/** Returns the worst case of the same request to another model. */
export function changeModel(
  { input: { usage: { input, extra = {} } }, maxTokens }: WorstCase,
  model: ModelLimits,
  options: Pick<BudgetOptions, "unknownPrice">,
): WorstCase {
  const { audioInput = 0 } = extra;
  return priceWorstCase({ input, audioInput, maxTokens }, model, options);
}

/** The limits and prices of a model. */
type ModelLimits = Pick<OnDeltaContext, "rates" | "maxOutputTokens">;

/** The tokens of a request, and the maximum of its reply. */
interface RequestTokens extends Pick<WorstCase, "maxTokens"> {
  readonly input: number;
  /** The part of `input` that is audio. */
  readonly audioInput: number;
}

function priceWorstCase(
  { input, audioInput, maxTokens }: RequestTokens,
  { rates, maxOutputTokens }: ModelLimits,
  { unknownPrice }: Pick<BudgetOptions, "unknownPrice">,
): WorstCase {
  const output = maxTokens ?? maxOutputTokens ?? MAX_OUTPUT_TOKENS;
  const audio = audioInput > 0 && { extra: { audioInput } };
  const unpriced = unknownPrice === "ignore" ? zeroCost() : unknownCost();
  const toSpending = (usage: Usage): Spending => ({
    usage,
    cost: rates ? priceHighest(usage, rates) : unpriced,
  });
  return {
    input: toSpending({ ...zeroUsage(), input, total: input, ...audio }),
    total: toSpending({ ...zeroUsage(), input, output, total: input + output, ...audio }),
    maxTokens,
  };
}

/**
 * Returns the higher cost of sending the input uncached, and of writing it to the cache, with all factors that raise it:
 * only the reply has the region that served it.
 */
function priceHighest(tokens: Usage, rates: Rates): Cost {
  const raising = Object.entries(rates.factors ?? {}).filter(([, factor]) => factor > 1);
  const requests = Object.fromEntries(raising.map(([name]) => [name, 1]));
  const usage = { ...tokens, extra: { ...tokens.extra, ...requests } };
  const uncached = priceUsage(usage, rates);
  const written = priceUsage({ ...usage, input: 0, cacheWrite: usage.input }, rates);
  return isHigher(written.total, uncached.total) ? written : uncached;
}

function isHigher(left: number | null, right: number | null): boolean {
  return isKnownAmount(left) && isKnownAmount(right) && left > right;
}
