/**
 * Keywords of older drafts of JSON Schema and of OpenAPI.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";

/** Rewrites the keywords of older drafts as those of draft 2020-12. */
export function rewriteOlderKeywords(schema: JsonRecord): JsonRecord {
  return rewriteDependencies(rewriteTuple(rewriteLimits(schema)));
}

/** `exclusiveMinimum: true` and `exclusiveMaximum: true` of draft 4. */
function rewriteLimits(schema: JsonRecord): JsonRecord {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  return {
    ...rest,
    ...selectLimit("minimum", "exclusiveMinimum", minimum, exclusiveMinimum),
    ...selectLimit("maximum", "exclusiveMaximum", maximum, exclusiveMaximum),
  };
}

function selectLimit(
  name: string,
  exclusiveName: string,
  limit: unknown,
  exclusive: unknown,
): JsonRecord {
  if (exclusive === true && limit !== undefined) return { [exclusiveName]: limit };
  return {
    ...(limit !== undefined && { [name]: limit }),
    ...(typeof exclusive === "number" && { [exclusiveName]: exclusive }),
  };
}

/** A list of `items`, and `additionalItems`, of draft 7. */
function rewriteTuple(schema: JsonRecord): JsonRecord {
  const { items, additionalItems, ...rest } = schema;
  if (!Array.isArray(items)) return items === undefined ? rest : { ...rest, items };
  return {
    ...rest,
    ...(items.length > 0 && { prefixItems: items }),
    ...(additionalItems !== undefined && { items: additionalItems }),
  };
}

/** `dependencies` of draft 7. */
function rewriteDependencies(schema: JsonRecord): JsonRecord {
  const { dependencies, dependentRequired, dependentSchemas, ...rest } = schema;
  const entries = isRecord(dependencies) ? Object.entries(dependencies) : [];
  const lists = entries.filter(([, dependency]) => Array.isArray(dependency));
  const schemas = entries.filter(([, dependency]) => !Array.isArray(dependency));
  return {
    ...rest,
    ...mergeEntries("dependentRequired", dependentRequired, lists),
    ...mergeEntries("dependentSchemas", dependentSchemas, schemas),
  };
}

function mergeEntries(
  keyword: string,
  value: unknown,
  added: readonly (readonly [string, unknown])[],
): JsonRecord {
  if (value === undefined && added.length === 0) return {};
  const own = isRecord(value) ? Object.entries(value) : [];
  return { [keyword]: Object.fromEntries([...added, ...own]) };
}

/** Rewrites `nullable` of OpenAPI as a type. */
export function rewriteNullable(schema: JsonRecord): JsonRecord {
  const { nullable, type, ...rest } = schema;
  if (type === undefined) return rest;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return { ...rest, type: nullable === true ? [...new Set([...types, "null"])] : type };
}
