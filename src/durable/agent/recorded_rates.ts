/**
 * The prices of an agent in a durable run.
 *
 * @module
 */

import { isJsonObject, toJsonValue } from "../../core/json/json.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { findRates, type Prices, type Rates } from "../../core/models/usage.ts";

/**
 * The rates of recorded replies. Prices may have changed since the first execution, or cannot be loaded; with other costs,
 * a budget would stop a replay at another point.
 */
export class RecordedRates {
  readonly #recorded = new Map<string, Rates>();

  /** Whether the last reply of a model came from the record. */
  get isUsed(): boolean {
    return this.#recorded.size > 0;
  }

  /** Returns prices with the recorded rates of a model, as long as its replies come from the record. */
  wrap(prices: Prices | undefined): Prices {
    return (model) => this.#recorded.get(toKey(model)) ?? (prices && findRates(prices, model));
  }

  /** Sets the rates of a reply that comes from the record; `undefined` for one that does not, or has none. */
  set(model: ModelSpec, rates: Rates | undefined): void {
    if (rates) this.#recorded.set(toKey(model), rates);
    else this.#recorded.delete(toKey(model));
  }
}

/** Returns the rates of a model for the record; the loop reports a price list that fails. */
export function findRecordedRates(prices: Prices | undefined, model: ModelSpec): Rates | undefined {
  try {
    const copy = toJsonValue(prices && findRates(prices, model));
    return "value" in copy && isJsonObject(copy.value) ? copy.value as unknown as Rates : undefined;
  } catch {
    return undefined;
  }
}

function toKey({ provider, modelId }: ModelSpec): string {
  return JSON.stringify([provider, modelId]);
}
