/**
 * The stream function of an agent that was created without one.
 *
 * @module
 */

import type { ModelSpec } from "../core/model.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "../core/stream.ts";
import { findRates, type Rates } from "../core/usage.ts";

let connected: Promise<StreamFn> | undefined;
let loaded: StreamFn | undefined;

/** Loads the adapters; called for the first request, since most programs import one adapter by themselves. */
async function loadAdapters(): Promise<StreamFn> {
  connected ??= import("../../adapters/connect.ts").then(({ connect }) => connect());
  return loaded = await connected;
}

async function* streamFromProvider(request: StreamRequest): AsyncIterable<AssistantMessageEvent> {
  const streamFn = await loadAdapters();
  yield* streamFn(request);
}

/**
 * Calls the provider of each request's model, like `connect()` of the adapters, which is loaded on first use. Prices and
 * context windows are known from then on.
 */
export const defaultStream: StreamFn = Object.assign(streamFromProvider, {
  prices(model: ModelSpec): Rates | undefined {
    return loaded?.prices && findRates(loaded.prices, model);
  },
  contextWindow: (model: ModelSpec): number | undefined => loaded?.contextWindow?.(model),
});
