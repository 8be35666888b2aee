/**
 * Schemas of tool parameters for Moonshot, which accepts a part of JSON Schema, directly and behind gateways.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import { inlineDefinitions } from "../../kit/request/inline_definitions.ts";
import { toToolSchema } from "../../kit/request/tool_schema.ts";
import { inferType } from "./inferred_type.ts";

/** Whether a model is one of Moonshot, which a gateway may forward to its API. */
export function isKimi({ modelId }: ModelSpec): boolean {
  return /\bkimi\b/i.test(modelId);
}

/** Converted schemas, since each request has the tools of the previous one. */
const moonshotSchemas = new WeakMap<JsonSchema, JsonSchema>();

/**
 * Returns a schema without references, since Moonshot accepts none next to other keywords or to `definitions`, and without a
 * type next to alternatives: "when using anyOf, type should be defined in anyOf items instead of the parent schema". All
 * other schemas have a type: "At path 'properties.a': type is not defined".
 */
export function toMoonshotSchema(parameters: JsonSchema): JsonSchema {
  const known = moonshotSchemas.get(parameters);
  if (known) return known;
  const schema = placeTypes(inlineDefinitions(toToolSchema(parameters)));
  moonshotSchemas.set(parameters, schema);
  return schema;
}

function placeTypes(schema: JsonObject): JsonObject {
  return mapSubschemas(
    addType(moveType(schema)),
    (subschema) => isJsonObject(subschema) ? placeTypes(subschema) : subschema,
  );
}

/** Keywords that make a type unnecessary. */
const TYPE_KEYWORDS = ["type", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "$ref"];

/** Alternatives of a schema that accepts any value. */
const ANY_VALUE: readonly JsonObject[] = [
  ...["string", "number", "boolean", "object", "null"].map((type) => ({ type })),
  { type: "array", items: { type: "string" } },
];

function addType(schema: JsonObject): JsonObject {
  if (TYPE_KEYWORDS.some((keyword) => keyword in schema)) return schema;
  const type = inferType(schema);
  return type === undefined ? { ...schema, anyOf: ANY_VALUE } : { type, ...schema };
}

/** Moves the type of a schema to its alternatives without one. */
function moveType(schema: JsonObject): JsonObject {
  const { type, ...others } = schema;
  const keyword = ["anyOf", "oneOf"].find((name) => Array.isArray(schema[name]));
  const alternatives = keyword === undefined ? undefined : schema[keyword];
  if (type === undefined || keyword === undefined || !Array.isArray(alternatives)) return schema;
  const typed = alternatives.map((each) => isJsonObject(each) ? { type, ...each } : each);
  return { ...others, [keyword]: typed };
}
