/**
 * JSON Schemas that a provider can enforce on a reply.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json.ts";
import type { StreamFn } from "../../../src/core/stream.ts";
import { type Catalog, catalog, findModel } from "../../catalog/catalog.ts";

/** Adds `hasStrictSchema` to a stream function, based on the `strictSchema` field of catalog entries. */
export function withStrictSchema(streamFn: StreamFn, models: Catalog = catalog): StreamFn {
  const hasStrictSchema: StreamFn["hasStrictSchema"] = (model, schema) =>
    (findModel(models, model)?.strictSchema ?? false) && isStrictSchema(schema);
  return Object.assign(streamFn, { hasStrictSchema });
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
