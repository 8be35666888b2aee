/**
 * Public lists of model prices.
 *
 * @module
 */

import type { Rates, RateTier } from "../../src/core/models/usage.ts";

/** Prices of a model in a list. */
export interface ListedPrice {
  /** Provider, as in the catalog. */
  readonly provider: string;
  /** Model id of the provider. */
  readonly modelId: string;
  /** Prices in US dollars per million tokens. */
  readonly rates: Rates;
}

/** A public list of prices. */
export interface PriceList {
  /** Name of the list. */
  readonly name: "litellm" | "models.dev";
  /** Prices of its models. */
  readonly prices: readonly ListedPrice[];
}

type Fields = Readonly<Record<string, unknown>>;
type RateName = "input" | "output" | "cacheRead" | "cacheWrite" | "cacheWriteLong" | "audioInput";
type FieldNames = Readonly<Partial<Record<RateName, string>>>;

/** Providers of the catalog by their names in the lists. */
const PROVIDERS: Readonly<Record<string, string>> = {
  "amazon-bedrock": "bedrock",
  anthropic: "anthropic",
  azure: "azure",
  bedrock: "bedrock",
  bedrock_converse: "bedrock",
  deepseek: "deepseek",
  gemini: "google",
  google: "google",
  mistral: "mistral",
  openai: "openai",
  xai: "xai",
};

const LITELLM_FIELDS = {
  input: "input_cost_per_token",
  output: "output_cost_per_token",
  cacheRead: "cache_read_input_token_cost",
  cacheWrite: "cache_creation_input_token_cost",
  cacheWriteLong: "cache_creation_input_token_cost_above_1hr",
  audioInput: "input_cost_per_audio_token",
};
const LITELLM_MODES: readonly unknown[] = ["chat", "responses"];

const MODELS_DEV_FIELDS: FieldNames = {
  input: "input",
  output: "output",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  audioInput: "input_audio",
};

/**
 * Reads the text models of a list: `api.json` of models.dev, or `model_prices_and_context_window.json` of litellm. Models
 * of other providers than those of the catalog, and prices of 0, are left out.
 *
 * @throws {TypeError} If the list has neither format.
 */
export function readPriceList(list: unknown): PriceList {
  if (!isFields(list)) throw new TypeError("The price list is not a JSON object");
  const entries = Object.entries(list);
  if (entries.some(([, entry]) => isFields(entry) && "litellm_provider" in entry)) {
    const prices = entries.flatMap(([name, entry]) => readLitellmEntry(name, toFields(entry)));
    return { name: "litellm", prices };
  }
  if (entries.some(([, entry]) => isFields(entry) && isFields(entry["models"]))) {
    const prices = entries.flatMap(([name, entry]) => readModelsDevProvider(name, toFields(entry)));
    return { name: "models.dev", prices };
  }
  throw new TypeError("The price list has neither the format of models.dev nor that of litellm");
}

function readLitellmEntry(name: string, entry: Fields): ListedPrice[] {
  const listed = String(entry["litellm_provider"]);
  const provider = PROVIDERS[listed];
  if (!provider || !LITELLM_MODES.includes(entry["mode"])) return [];
  const perMillion = Object.fromEntries(
    Object.entries(entry).flatMap(([field, value]) =>
      typeof value === "number" ? [[field, value * 1_000_000]] : []
    ),
  );
  const thresholds = Object.keys(entry).flatMap((field) =>
    /^input_cost_per_token_above_(\d+)k_tokens$/.exec(field)?.[1] ?? []
  );
  const tiers = thresholds.map((thousands) => {
    const fields = Object.entries(LITELLM_FIELDS).map((
      [rate, field],
    ) => [rate, `${field}_above_${thousands}k_tokens`]);
    return {
      size: Number(thousands) * 1000,
      prices: perMillion,
      fields: Object.fromEntries(fields),
    };
  });
  const rates = toRates(perMillion, LITELLM_FIELDS, tiers);
  const modelId = name.startsWith(`${listed}/`) ? name.slice(listed.length + 1) : name;
  return rates ? [{ provider, modelId, rates }] : [];
}

function readModelsDevProvider(name: string, entry: Fields): ListedPrice[] {
  const provider = PROVIDERS[name];
  if (!provider) return [];
  return Object.entries(toFields(entry["models"])).flatMap(([modelId, model]) => {
    const cost = toFields(toFields(model)["cost"]);
    const tiers = Array.isArray(cost["tiers"]) ? cost["tiers"].map(toFields) : [];
    const rates = toRates(
      cost,
      MODELS_DEV_FIELDS,
      tiers.map((prices) => ({
        size: Number(toFields(prices["tier"])["size"]),
        prices,
        fields: MODELS_DEV_FIELDS,
      })),
    );
    return rates ? [{ provider, modelId, rates }] : [];
  });
}

interface ListedTier {
  readonly size: number;
  readonly prices: Fields;
  readonly fields: FieldNames;
}

function toRates(
  prices: Fields,
  fields: FieldNames,
  tiers: readonly ListedTier[],
): Rates | undefined {
  const base = readRates(prices, fields);
  if (!base) return undefined;
  const listed = tiers.flatMap(({ size, prices, fields }): RateTier[] => {
    const tier = readRates(prices, fields);
    return tier ? [{ ...tier, abovePromptTokens: size }] : [];
  }).toSorted((left, right) => left.abovePromptTokens - right.abovePromptTokens);
  return listed.length > 0 ? { ...base, tiers: listed } : base;
}

function readRates(prices: Fields, fields: FieldNames): Omit<Rates, "tiers"> | undefined {
  const rates = Object.fromEntries(
    Object.entries(fields).flatMap(([rate, field]) => {
      const price = prices[field];
      return typeof price === "number" && price > 0 ? [[rate, Number(price.toPrecision(9))]] : [];
    }),
  );
  const { input, output } = rates;
  return input === undefined || output === undefined ? undefined : { ...rates, input, output };
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function toFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}
