/**
 * Calculates the cost of token counts. Separate from `usage.ts`, so that it is loaded with the first prompt.
 *
 * @module
 */

import type { Cost, Rates, Usage } from "./usage.ts";

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
  const { cacheRead: readRate = tier.input, cacheWrite: writeRate = tier.input } = tier;
  const longWrites = Math.min(usage.extra?.["cacheWriteLong"] ?? 0, usage.cacheWrite);
  const input = priceTokens(usage.input, tier.input);
  const output = priceTokens(usage.output, tier.output);
  const cacheRead = priceTokens(usage.cacheRead, readRate);
  const cacheWrite = priceTokens(usage.cacheWrite - longWrites, writeRate) +
    priceTokens(longWrites, tier.cacheWriteLong ?? writeRate);
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

function priceTokens(tokens: number, rate: number): number {
  return (tokens * rate) / 1_000_000;
}
