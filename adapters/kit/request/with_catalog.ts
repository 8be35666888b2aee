/**
 * Stream functions with the facts of the catalog about their models.
 *
 * @module
 */

import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { ModelFacts, StreamFn } from "../../../src/core/streams/stream.ts";
import type { Catalog } from "../../catalog/catalog_entry.ts";

type CatalogModule = typeof import("../../catalog/catalog.ts");

/**
 * Adds the strict schemas, prices and limits of the models to a stream function. The catalog is loaded with the first
 * request or question; before, prices and limits are unknown. `models` is a catalog, or a function that returns that of a model.
 * Default: the shipped models.
 */
export function withCatalog(
  streamFn: StreamFn,
  models?: Catalog | ((model: ModelSpec) => Catalog | undefined),
): StreamFn {
  let loaded: CatalogModule | undefined;
  const load = async (): Promise<CatalogModule> =>
    loaded ??= await import("../../catalog/catalog.ts");
  const select = (model: ModelSpec) =>
    (typeof models === "function" ? models(model) : models) ?? loaded?.catalog ?? {};
  const call: StreamFn = (request) => {
    if (!loaded) void load();
    return streamFn(request);
  };
  const facts: Required<ModelFacts> = {
    async hasStrictSchema(model, schema) {
      const { findModel } = await load();
      if (!findModel(select(model), model)?.strictSchema) return false;
      return (await import("./strict_schema.ts")).isStrictSchema(schema);
    },
    prices: (model) => loaded?.findModelRates(select(model), model),
    contextWindow: (model) => loaded?.findModel(select(model), model)?.contextWindow,
    maxOutputTokens: (model) => loaded?.findModel(select(model), model)?.maxOutput,
    loadFacts: load,
  };
  return Object.assign(call, facts);
}
