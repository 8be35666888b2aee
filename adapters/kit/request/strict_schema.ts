/**
 * Which JSON Schemas a provider can hold a reply to.
 *
 * @module
 */

import { isJsonObject } from "../../../src/core/json.ts";
import type { StreamFn } from "../../../src/core/stream.ts";
import { type Catalog, findModel } from "../../catalog/catalog.ts";

/** Lets a stream function tell which replies its provider holds to a schema, as far as the catalog knows. */
export function withStrictSchema(streamFn: StreamFn, catalog: Catalog): StreamFn {
  const hasStrictSchema: StreamFn["hasStrictSchema"] = (model, schema) =>
    (findModel(catalog, model)?.strictSchema ?? false) && isStrictSchema(schema);
  return Object.assign((request: Parameters<StreamFn>[0]) => streamFn(request), {
    hasStrictSchema,
  });
}

/**
 * Tells whether a schema is strict in OpenAI's sense: every object is closed and requires all its properties. Others
 * are taken as well, but not enforced.
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
