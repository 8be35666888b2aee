/**
 * Calculates the cost of token counts. Separate from `usage.ts`, so that it is loaded with the first prompt.
 *
 * @module
 */

import { addMoney, type Cost, type Rates, type Usage } from "./usage.ts";

/**
 * Calculates the cost of one model call. The sum of several calls must not be passed: its prompt could exceed the
 * threshold of a tier that none of the calls exceeds.
 *
 * @example
 * ```ts
 * import { priceUsage } from "@swink/agent/loop";
 *
 * const usage = { input: 200_000, output: 0, cacheRead: 0, cacheWrite: 0, total: 200_000 };
 * const long = { abovePromptTokens: 100_000, input: 5, output: 10 };
 * priceUsage(usage, { input: 1, output: 2, tiers: [long] }).total; // 1
 * ```
 */
export function priceUsage(usage: Usage, rates: Rates): Cost {
  const promptTokens = usage.input + usage.cacheRead + usage.cacheWrite;
  const tier = rates.tiers?.findLast((tier) => promptTokens > tier.abovePromptTokens) ?? rates;
  const factor = getFactor(usage, rates);
  const input = factor * priceInput(usage, tier);
  const output = factor * priceTokens(usage.output, tier.output);
  const cacheRead = factor * priceCacheRead(usage, tier);
  const writes = priceWrites(usage, tier);
  const cacheWrite = writes === null ? null : factor * writes;
  const extra = priceRequests(usage, rates);
  const amounts = [input, output, cacheRead, cacheWrite, ...Object.values(extra)];
  const total = amounts.reduce(addMoney, 0);
  const cost = { input, output, cacheRead, cacheWrite, total };
  return Object.keys(extra).length > 0 ? { ...cost, extra } : cost;
}

/** Returns the product of the factors of the requests that a usage counts. */
function getFactor({ extra = {} }: Usage, { factors = {} }: Rates): number {
  return Object.entries(factors).reduce(
    (product, [name, factor]) => (extra[name] ?? 0) > 0 ? product * factor : product,
    1,
  );
}

/** Rates of one call, of the default prices or a tier. */
type TokenRates = Omit<Rates, "requests" | "factors" | "tiers">;

function priceInput({ input, extra = {} }: Usage, rates: TokenRates): number {
  const audio = Math.min(extra["audioInput"] ?? 0, input);
  return priceTokens(input - audio, rates.input) +
    priceTokens(audio, rates.audioInput ?? rates.input);
}

/** Prices reads from the cache: audio has the same discount as other tokens. */
function priceCacheRead({ cacheRead, extra = {} }: Usage, rates: TokenRates): number {
  const { input, cacheRead: rate = input, audioInput = input } = rates;
  const audio = Math.min(extra["audioCacheRead"] ?? 0, cacheRead);
  const audioRate = input > 0 ? rate * (audioInput / input) : rate;
  return priceTokens(cacheRead - audio, rate) + priceTokens(audio, audioRate);
}

/** Prices writes to the cache by the time for which they are stored. */
function priceWrites(
  { cacheWrite, extra = {} }: Usage,
  rates: TokenRates,
): number | null {
  const { cacheWrite: rate = rates.input, cacheWriteLong = rate, cacheWriteOther } = rates;
  const long = Math.min(extra["cacheWriteLong"] ?? 0, cacheWrite);
  const other = Math.min(extra["cacheWriteOther"] ?? 0, cacheWrite - long);
  if (other > 0 && cacheWriteOther === undefined) return null;
  return priceTokens(cacheWrite - long - other, rate) + priceTokens(long, cacheWriteLong) +
    priceTokens(other, cacheWriteOther ?? 0);
}

/** Returns the fees of requests without a factor by their name; `null` for an unknown one. */
function priceRequests(
  { extra = {} }: Usage,
  { requests = {}, factors = {} }: Rates,
): Record<string, number | null> {
  const counts = Object.entries(extra).filter(([name, count]) =>
    /Requests$/.test(name) && count > 0 && !Object.hasOwn(factors, name)
  );
  return Object.fromEntries(counts.map(([name, count]) => {
    const fee = Object.hasOwn(requests, name) ? requests[name] : undefined;
    return [name, fee === undefined ? null : (count * fee) / 1000];
  }));
}

function priceTokens(tokens: number, rate: number): number {
  return (tokens * rate) / 1_000_000;
}
