/**
 * Tokens and money.
 *
 * @module
 */

import type { ModelSpec } from "./model.ts";

/** Token counts of one reply, or of many added up. */
export interface Usage {
  /** Prompt tokens that were not served from a cache and not written to one. */
  readonly input: number;
  /** Tokens that the model produced, reasoning included. */
  readonly output: number;
  /** Prompt tokens served from the provider's cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to the provider's cache. */
  readonly cacheWrite: number;
  /** The provider's own total, or the sum of the four. */
  readonly total: number;
  /** Further counts by name, such as `reasoning`. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** What usage costs, in the currency of the rates (US dollars in the shipped catalog). */
export interface Cost {
  /** Cost of `Usage.input`. */
  readonly input: number;
  /** Cost of `Usage.output`. */
  readonly output: number;
  /** Cost of `Usage.cacheRead`. */
  readonly cacheRead: number;
  /** Cost of `Usage.cacheWrite`. */
  readonly cacheWrite: number;
  /** Cost of everything together. */
  readonly total: number;
  /** Further amounts by name. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** Prices per million tokens. */
export interface Rates {
  /** Per million uncached prompt tokens. */
  readonly input: number;
  /** Per million produced tokens. */
  readonly output: number;
  /** Per million tokens read from the cache. Default: `input`. */
  readonly cacheRead?: number;
  /** Per million tokens written to the cache. Default: `input`. */
  readonly cacheWrite?: number;
}

/**
 * Where an agent finds the rates of a model: a table keyed by `"provider/modelId"` or `"modelId"`, or a
 * function. `undefined` means that the price is unknown.
 */
export type Prices = Readonly<Record<string, Rates>> | ((model: ModelSpec) => Rates | undefined);

/** Usage of nothing. */
export function zeroUsage(): Usage {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
}

/** Cost of nothing. */
export function zeroCost(): Cost {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
}

/** Adds two usages, key by key. */
export function addUsage(left: Usage, right: Usage): Usage {
  return addAmounts(left, right);
}

/** Adds two costs, key by key. */
export function addCost(left: Cost, right: Cost): Cost {
  return addAmounts(left, right);
}

/** Prices a usage. */
export function priceUsage(usage: Usage, rates: Rates): Cost {
  const input = priceTokens(usage.input, rates.input);
  const output = priceTokens(usage.output, rates.output);
  const cacheRead = priceTokens(usage.cacheRead, rates.cacheRead ?? rates.input);
  const cacheWrite = priceTokens(usage.cacheWrite, rates.cacheWrite ?? rates.input);
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

/** Finds a model's rates; the full `provider/modelId` key wins over the bare model id. */
export function findRates(prices: Prices, model: ModelSpec): Rates | undefined {
  if (typeof prices === "function") return prices(model);
  const name = [`${model.provider}/${model.modelId}`, model.modelId].find((key) =>
    Object.hasOwn(prices, key)
  );
  return name === undefined ? undefined : prices[name];
}

function priceTokens(tokens: number, rate: number): number {
  return (tokens * rate) / 1_000_000;
}

function addAmounts<Amounts extends Usage | Cost>(left: Amounts, right: Amounts): Usage & Cost {
  const sum = {
    input: left.input + right.input,
    output: left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite: left.cacheWrite + right.cacheWrite,
    total: left.total + right.total,
  };
  if (!left.extra && !right.extra) return sum;
  const extra: Record<string, number> = { ...left.extra };
  for (const [name, amount] of Object.entries(right.extra ?? {})) {
    extra[name] = (extra[name] ?? 0) + amount;
  }
  return { ...sum, extra };
}
