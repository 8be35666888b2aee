/**
 * Builders for catalog entries.
 *
 * @module
 */

import type { Rates, RateTier } from "../../src/core/models/usage.ts";
import type {
  Catalog,
  CatalogEntry,
  ThinkingAbility,
  ThinkingEffort,
  ThinkingOff,
} from "./catalog_entry.ts";

/** Fields of an entry that differ from those of its model family. */
export type EntryOverrides = Partial<CatalogEntry> & Pick<CatalogEntry, "rates">;

/** Ability of a model that does not think, or whose thinking cannot be controlled. */
export const NO_THINKING: ThinkingAbility = { type: "none" };

/** Creates the ability to think by effort from a list such as `"low medium high"`. */
export function efforts(names: string, off?: ThinkingOff): ThinkingAbility {
  const list = names.split(" ") as ThinkingEffort[];
  return off === undefined
    ? { type: "effort", efforts: list }
    : { type: "effort", efforts: list, off };
}

/** Creates prices in US dollars per million tokens. */
export function rates(
  input: number,
  output: number,
  cacheRead?: number,
  cacheWrite?: number,
): Rates {
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** Prices of long prompts in relation to the prices of other prompts. */
export interface LongPrompt {
  /** Threshold in tokens. */
  readonly above: number;
  /** Factor of the prices of uncached, read and written prompt tokens. */
  readonly input: number;
  /** Factor of the price of output tokens. */
  readonly output: number;
}

/** Adds a tier for long prompts to prices. */
export function withLongPrompt(base: Rates, { above, input, output }: LongPrompt): Rates {
  const tier = { ...scaleRates(base, input), output: scaleRate(base.output, output) };
  return { ...base, tiers: [{ abovePromptTokens: above, ...tier }] };
}

/** Adds the fees of a thousand requests of server tools to models. */
export function withRequestFees(
  models: Catalog,
  requests: NonNullable<Rates["requests"]>,
): Catalog {
  return Object.fromEntries(
    Object.entries(models).map(([modelId, entry]) => [
      modelId,
      entry.rates ? { ...entry, rates: { ...entry.rates, requests } } : entry,
    ]),
  );
}

/** Adds the factor of prices in a region with data residency to models. */
export function withRegionalFactor(
  models: Catalog,
  getFactor: (modelId: string) => number,
): Catalog {
  return Object.fromEntries(
    Object.entries(models).map(([modelId, entry]) => [
      modelId,
      entry.rates
        ? { ...entry, rates: { ...entry.rates, factors: { regionalRequests: getFactor(modelId) } } }
        : entry,
    ]),
  );
}

/** Multiplies all prices of tokens by a factor. */
export function scaleRates({ tiers, requests, factors, ...base }: Rates, factor: number): Rates {
  const scale = <Part extends Omit<RateTier, "abovePromptTokens">>(part: Part): Part =>
    Object.fromEntries(
      Object.entries(part).map(([name, rate]) => [name, rate && scaleRate(rate, factor)]),
    ) as Part;
  const fees = { ...(requests && { requests }), ...(factors && { factors }) };
  if (!tiers) return { ...scale(base), ...fees };
  return {
    ...scale(base),
    ...fees,
    tiers: tiers.map(({ abovePromptTokens, ...tier }) => ({ ...scale(tier), abovePromptTokens })),
  };
}

/** Multiplies a price by a factor, and rounds off the error of binary fractions. */
function scaleRate(rate: number, factor: number): number {
  return Number((rate * factor).toPrecision(12));
}
