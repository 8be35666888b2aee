/**
 * Catalog of models.
 *
 * @module
 */

import type { ModelSpec } from "../../src/core/models/model.ts";
import type { Prices, Rates } from "../../src/core/models/usage.ts";
import { getRegionalRates, removeProfile } from "./bedrock_regions.ts";
import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import { getProviderAliases } from "./provider_aliases.ts";
import { CATALOG_MODELS } from "./shipped_models.ts";

export type { Catalog, CatalogEntry, ThinkingAbility } from "./catalog_entry.ts";
export type { ThinkingEffort, ThinkingOff } from "./catalog_entry.ts";

/**
 * The shipped models. To add or override models, pass an extended copy to an adapter or to `connect()`.
 *
 * @example
 * ```ts
 * import { catalog, connect } from "@swink/agent/adapters";
 *
 * const streamFn = connect({
 *   catalog: {
 *     ...catalog,
 *     "openai/my-model": {
 *       contextWindow: 128_000,
 *       maxOutput: 16_000,
 *       thinking: { type: "none" },
 *       images: false,
 *       strictSchema: true,
 *     },
 *   },
 * });
 * ```
 */
export const catalog: Catalog = CATALOG_MODELS;

/** Prices of the shipped models, for the `prices` option of an agent. */
export const prices: Prices = pricesFromCatalog(catalog);

/** Creates the `prices` option of an agent from a catalog. Models on the local machine are free. */
export function pricesFromCatalog(models: Catalog): Prices {
  return (model: ModelSpec): Rates | undefined => findModelRates(models, model);
}

/** Finds the prices of a model in a catalog. Models on the local machine are free. */
export function findModelRates(
  models: Catalog,
  model: Pick<ModelSpec, "provider" | "modelId">,
): Rates | undefined {
  const entry = findModel(models, model);
  return (entry && getRegionalRates(entry, model.modelId)) ??
    (isLocal(model) ? FREE_RATES : undefined);
}

/** Providers that run models on the local machine. */
const LOCAL_PROVIDERS = ["ollama", "lmstudio", "llamacpp", "vllm", "local"];
const FREE_RATES: Rates = { input: 0, output: 0 };

/** Whether a model runs on the local machine. Ollama also offers models of its own servers, such as `glm-5:cloud`. */
function isLocal({ provider, modelId }: Pick<ModelSpec, "provider" | "modelId">): boolean {
  return LOCAL_PROVIDERS.includes(provider) && !/[:-]cloud$/.test(modelId);
}

/**
 * Finds the catalog entry of a model, by its id or by the id without a date or `latest` at its end; for Bedrock also
 * without region and version. `gemini` is the same provider as `google`.
 *
 * @example
 * ```ts
 * import { catalog, findModel } from "@swink/agent/adapters";
 *
 * findModel(catalog, { provider: "anthropic", modelId: "claude-sonnet-4-5-20250929" })?.maxOutput; // 64000
 * ```
 */
export function findModel(
  models: Catalog,
  { provider, modelId }: Pick<ModelSpec, "provider" | "modelId">,
): CatalogEntry | undefined {
  for (const alias of getProviderAliases(provider)) {
    const baseId = removeProfile(modelId).replace(BEDROCK_VERSION, "").replace(VERSION, "");
    const entry = getEntry(models, `${alias}/${modelId}`) ?? getEntry(models, `${alias}/${baseId}`);
    if (entry) return entry;
  }
  return undefined;
}

/** Matches Bedrock's `-v1`, `-v1:0`, `-v1:0:200k`, `-1:0`. */
const BEDROCK_VERSION = /-(?:v\d+(?::\d+)?|\d+:\d+)(?::\d+k)?$/;

/** Matches `-20250929`, `-2024-08-06`, `-0`, `@20250929`, `-latest`. */
const VERSION = /(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|-0|-latest)$/;

function getEntry(models: Catalog, name: string): CatalogEntry | undefined {
  return Object.hasOwn(models, name) ? models[name] : undefined;
}
