/**
 * Token counts and cost.
 *
 * @module
 */

import type { ModelSpec } from "./model.ts";

/** Token counts of one or more replies. */
export interface Usage {
  /** Prompt tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  /** Output tokens, including reasoning. */
  readonly output: number;
  /** Prompt tokens read from the provider's cache. */
  readonly cacheRead: number;
  /** Prompt tokens written to the provider's cache. */
  readonly cacheWrite: number;
  /** Total as reported by the provider, otherwise the sum of the four counts. */
  readonly total: number;
  /** Additional counts by name, such as `reasoning`. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** Cost of usage, in the currency of the rates (US dollars in the built-in catalog). */
export interface Cost {
  /** Cost of `Usage.input`. */
  readonly input: number;
  /** Cost of `Usage.output`. */
  readonly output: number;
  /** Cost of `Usage.cacheRead`. */
  readonly cacheRead: number;
  /** Cost of `Usage.cacheWrite`. */
  readonly cacheWrite: number;
  /** Total cost. */
  readonly total: number;
  /** Additional amounts by name. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** Prices per million tokens, in any currency. */
export interface Rates {
  /** Price of a million uncached prompt tokens. */
  readonly input: number;
  /** Price of a million output tokens. */
  readonly output: number;
  /** Price of a million tokens read from the cache. Default: `input`. */
  readonly cacheRead?: number;
  /** Price of a million tokens written to the cache. Default: `input`. */
  readonly cacheWrite?: number;
}

/**
 * Rates by model: a table with the keys `"provider/modelId"` or `"modelId"`, of which the former takes precedence, or a
 * function that returns `undefined` for an unknown price.
 */
export type Prices = Readonly<Record<string, Rates>> | ((model: ModelSpec) => Rates | undefined);

/** Returns a usage of 0 tokens. */
export function zeroUsage(): Usage {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
}

/** Returns a cost of 0. */
export function zeroCost(): Cost {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
}

/** Adds two usages, including their `extra` counts by name. */
export function addUsage(left: Usage, right: Usage): Usage {
  return addAmounts(left, right);
}

/** Adds two costs, including their `extra` amounts by name. */
export function addCost(left: Cost, right: Cost): Cost {
  return addAmounts(left, right);
}

/** Calculates the cost of a usage; its `extra` counts are not priced. */
export function priceUsage(usage: Usage, rates: Rates): Cost {
  const input = priceTokens(usage.input, rates.input);
  const output = priceTokens(usage.output, rates.output);
  const cacheRead = priceTokens(usage.cacheRead, rates.cacheRead ?? rates.input);
  const cacheWrite = priceTokens(usage.cacheWrite, rates.cacheWrite ?? rates.input);
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

/** Returns the rates of a model, or `undefined` if they are unknown. */
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
