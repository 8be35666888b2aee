/**
 * The catalog: what is known of models.
 *
 * @module
 */

import type { ModelSpec } from "../../src/core/model.ts";
import type { Prices, Rates } from "../../src/core/usage.ts";
import type { Catalog, CatalogEntry } from "./catalog_entry.ts";
import { CATALOG_MODELS } from "./shipped_models.ts";

export type { Catalog, CatalogEntry, ThinkingAbility } from "./catalog_entry.ts";
export type { ThinkingEffort, ThinkingOff } from "./catalog_entry.ts";

/**
 * The shipped models. Extend it by making a new one, and hand that to an adapter or to {@linkcode connect}.
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

/** The prices of the shipped models, for the agent's `prices`. */
export const prices: Prices = pricesFromCatalog(catalog);

/** Makes the `prices` option of an agent from a catalog. */
export function pricesFromCatalog(models: Catalog): Prices {
  return (model: ModelSpec): Rates | undefined =>
    findModel(models, model)?.rates ??
      (LOCAL_PROVIDERS.includes(model.provider) ? FREE_RATES : undefined);
}

/** What answers on one's own machine costs nothing by the token. */
const LOCAL_PROVIDERS = ["ollama", "lmstudio", "llamacpp", "vllm", "local"];
const FREE_RATES: Rates = { input: 0, output: 0 };

/**
 * Finds what is known of a model; a date or `latest` at the end of its name makes no difference.
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
  const name = `${provider}/${modelId}`;
  return getEntry(models, name) ?? getEntry(models, normalizeModelName(name));
}

/** A name without what says where a model runs and which version of it. */
function normalizeModelName(name: string): string {
  return name.replace(REGION, "/").replace(BEDROCK_VERSION, "").replace(VERSION, "");
}

/** Bedrock's `us.anthropic.…`, also at the end of an ARN. */
const REGION = /\/(?:arn:.*\/)?(?:(?:us|eu|apac|au|ca|jp|us-gov|global)\.)?(?=[a-z0-9]+\.)/;

/** Bedrock's `-v1`, `-v1:0`, `-v1:0:200k` */
const BEDROCK_VERSION = /-v\d+(?::\d+)?(?::\d+k)?$/;

/** `-20250929`, `-2024-08-06`, `-0`, `@20250929`, `-latest` */
const VERSION = /(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|-0|-latest)$/;

function getEntry(models: Catalog, name: string): CatalogEntry | undefined {
  return Object.hasOwn(models, name) ? models[name] : undefined;
}
