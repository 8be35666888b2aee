/**
 * Facts about the model of a request, for the policies.
 *
 * @module
 */

import { refusePromise } from "../../core/errors/refuse_promise.ts";
import type { PreRequestContext } from "../../core/hooks/policy.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import type { Prices } from "../../core/models/usage.ts";
import type { StreamFn } from "../../core/streams/stream.ts";
import { lookUpRates } from "./price.ts";
import type { TurnContext } from "./turn_context.ts";

/** Loads prices and limits until an abort; without them, the request is made all the same. */
export async function loadFacts(
  { loadFacts }: StreamFn,
  { cancellation }: Pick<TurnContext, "cancellation">,
): Promise<void> {
  try {
    await cancellation.untilAborted(Promise.resolve(loadFacts?.()));
  } catch {
    // The request itself reports what cannot be loaded.
  }
}

/** Returns the limits and prices of a model, as far as they are known. */
export function getModelFacts(
  model: ModelSpec,
  { streamFn, prices }: { readonly streamFn: StreamFn; readonly prices: Prices | undefined },
): Pick<PreRequestContext, "contextWindow" | "maxOutputTokens" | "rates"> {
  return {
    contextWindow: lookUpLimit(model, streamFn.contextWindow),
    maxOutputTokens: lookUpLimit(model, streamFn.maxOutputTokens),
    rates: lookUpRates(prices, model),
  };
}

/** Returns a limit of a model; one that cannot be looked up, or is no number above 0, is unknown. */
export function lookUpLimit(
  model: ModelSpec,
  lookUp: ((model: ModelSpec) => number | undefined) | undefined,
): number | undefined {
  try {
    const limit: unknown = lookUp?.(model);
    refusePromise(limit, "the limit of a model");
    return typeof limit === "number" && limit > 0 ? limit : undefined;
  } catch {
    return undefined;
  }
}
