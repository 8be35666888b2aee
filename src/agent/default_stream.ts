/**
 * The stream function of an agent that was created without one.
 *
 * @module
 */

import { findRates } from "../core/models/usage.ts";
import { lazyStreamFn } from "../core/streams/lazy_stream_fn.ts";
import type { ModelFacts, StreamFn } from "../core/streams/stream.ts";

/**
 * Creates a stream function that calls the provider of each request's model, like `connect()` of the adapters, which is
 * loaded on first use. Prices and context windows are known from then on.
 */
export function createDefaultStream(): StreamFn {
  let loaded: StreamFn | undefined;
  const load = async () => {
    const { connect } = await import("../../adapters/connect.ts");
    return loaded ??= connect();
  };
  const stream = lazyStreamFn(load);
  return Object.assign(
    stream,
    {
      prices: (model) => loaded?.prices && findRates(loaded.prices, model),
      contextWindow: (model) => loaded?.contextWindow?.(model),
      maxOutputTokens: (model) => loaded?.maxOutputTokens?.(model),
      loadFacts: async () => (await load()).loadFacts?.(),
    } satisfies ModelFacts,
  );
}
