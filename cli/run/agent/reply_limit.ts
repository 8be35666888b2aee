/**
 * The longest reply that a budget can pay for.
 *
 * @module
 */

import { catalog, findModel, prices } from "../../../adapters/catalog/catalog.ts";
import type { ModelSpec } from "../../../mod.ts";

/** The part of a budget that one reply may cost: the rest pays for prompts, other replies and sub-agents. */
const REPLY_SHARE = 1 / 4;

/** Output tokens that a reply needs at least to be of use. */
const MIN_REPLY_TOKENS = 4_096;

/** Number of tokens to which a rate applies. */
const PRICED_TOKENS = 1_000_000;

/**
 * Returns the maximum number of output tokens of a reply for a budget in US dollars. Without it, a budget below the
 * price of the longest reply of the model would allow no request. `undefined`: the maximum of the models.
 */
export function findReplyLimit(
  maxCost: number,
  models: readonly ModelSpec[],
): number | undefined {
  const limit = Math.min(...models.map((model) => findModelLimit(maxCost, model)));
  return limit === Infinity ? undefined : limit;
}

/** Returns the limit for a model; infinite if its longest reply is within its part of the budget, or unknown. */
function findModelLimit(maxCost: number, model: ModelSpec): number {
  const longest = findModel(catalog, model)?.maxOutput;
  const rates = typeof prices === "function" ? prices(model) : undefined;
  if (longest === undefined || !rates) return Infinity;
  const affordable = Math.floor(maxCost * REPLY_SHARE * PRICED_TOKENS / rates.output);
  const limit = Math.max(MIN_REPLY_TOKENS, affordable);
  return limit < longest ? limit : Infinity;
}
