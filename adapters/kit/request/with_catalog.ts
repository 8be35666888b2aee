/**
 * Stream functions with the facts of the catalog about their models.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json.ts";
import type { StreamFn } from "../../../src/core/stream.ts";
import type { Catalog } from "../../catalog/catalog_entry.ts";

type CatalogModule = typeof import("../../catalog/catalog.ts");

/**
 * Adds `hasStrictSchema`, `prices` and `contextWindow` to a stream function. The catalog is loaded with the first request
 * or question; before, prices and windows are unknown. Default of `models`: the shipped models.
 */
export function withCatalog(streamFn: StreamFn, models?: Catalog): StreamFn {
  let loaded: CatalogModule | undefined;
  const load = async (): Promise<CatalogModule> =>
    loaded ??= await import("../../catalog/catalog.ts");
  const call: StreamFn = (request) => {
    if (!loaded) void load();
    return streamFn(request);
  };
  const knowledge: Required<Pick<StreamFn, "hasStrictSchema" | "prices" | "contextWindow">> = {
    async hasStrictSchema(model, schema) {
      const { catalog, findModel } = await load();
      return (findModel(models ?? catalog, model)?.strictSchema ?? false) && isStrictSchema(schema);
    },
    prices: (model) => loaded?.findModelRates(models ?? loaded.catalog, model),
    contextWindow: (model) => loaded?.findModel(models ?? loaded.catalog, model)?.contextWindow,
  };
  return Object.assign(call, knowledge);
}

/**
 * Whether a schema is strict as OpenAI defines it: every object forbids additional properties and requires all declared
 * ones. Providers accept other schemas without enforcing them.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isJsonObject(schema)) return true;
  return isClosedObject(schema) && Object.values(schema).every(isStrictSchema);
}

function isClosedObject(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required, additionalProperties } = schema;
  if (type !== "object") return true;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  return additionalProperties === false &&
    names.every((name) => Array.isArray(required) && required.includes(name));
}
