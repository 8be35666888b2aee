/**
 * The prices of an agent in a durable run.
 *
 * @module
 */

import { isJsonObject, toJsonValue } from "../../core/json/json.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { findRates, type Prices, type Rates } from "../../core/models/usage.ts";
import { abortable } from "../../core/ports/abortable.ts";
import type { StreamFn } from "../../core/streams/stream.ts";

/**
 * The rates of recorded replies. Prices may have changed since the first execution, or cannot be loaded; with other costs,
 * a budget would stop a replay at another point.
 */
export class RecordedRates {
  /** The rates by model; `null` if they were not known in the first execution. */
  readonly #recorded = new Map<string, Rates | null>();

  /** Whether the last reply of a model came from the record, with rates. */
  get isUsed(): boolean {
    return [...this.#recorded.values()].some((rates) => rates !== null);
  }

  /** Returns prices with the recorded rates of a model, as long as its replies come from the record. */
  wrap(prices: Prices | undefined): Prices {
    return (model) => {
      const recorded = this.#recorded.get(toKey(model));
      if (recorded !== undefined) return recorded ?? undefined;
      return prices && findRates(prices, model);
    };
  }

  /** Sets the rates of a reply that comes from the record; `undefined` for one that does not, or whose record has none. */
  set(model: ModelSpec, rates: Rates | null | undefined): void {
    if (rates !== undefined) this.#recorded.set(toKey(model), rates);
    else this.#recorded.delete(toKey(model));
  }
}

/** The model of a reply, and its prices. */
export interface PricedModel {
  /** The model. */
  readonly model: ModelSpec;
  /** The function that has called it, which may have to load its prices. */
  readonly streamFn: StreamFn;
  /** The prices. Default: none. */
  readonly prices: Prices | undefined;
}

/**
 * Returns the rates of a model for the record; `null` if they are not known. They are loaded until an abort, as by the loop
 * before it calculates the cost.
 */
export async function findRecordedRates(
  { model, streamFn, prices }: PricedModel,
  signal: AbortSignal,
): Promise<Rates | null> {
  const rates = readRates(prices, model);
  if (rates || !streamFn.loadFacts || signal.aborted) return rates;
  try {
    await abortable(Promise.resolve(streamFn.loadFacts()), signal);
  } catch {
    return null;
  }
  return readRates(prices, model);
}

/** Returns the rates that are known now; the loop reports a price list that fails. */
function readRates(prices: Prices | undefined, model: ModelSpec): Rates | null {
  try {
    const copy = toJsonValue(prices && findRates(prices, model));
    return "value" in copy && isJsonObject(copy.value) ? copy.value as unknown as Rates : null;
  } catch {
    return null;
  }
}

function toKey({ provider, modelId }: ModelSpec): string {
  return JSON.stringify([provider, modelId]);
}
