/**
 * Schemas of tool parameters for Moonshot, which accepts a part of JSON Schema, directly and behind gateways.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";
import { inlineDefinitions } from "../../kit/request/inline_definitions.ts";
import { toToolSchema } from "../../kit/request/tool_schema.ts";

/** Whether a model is one of Moonshot, which a gateway may forward to its API. */
export function isKimi({ modelId }: ModelSpec): boolean {
  return /\bkimi\b/i.test(modelId);
}

/**
 * Returns a schema without references, since Moonshot accepts none next to other keywords or to `definitions`, and without a
 * type next to alternatives: "when using anyOf, type should be defined in anyOf items instead of the parent schema".
 */
export function toMoonshotSchema(parameters: JsonSchema): JsonSchema {
  return moveTypes(inlineDefinitions(toToolSchema(parameters)));
}

function moveTypes(schema: JsonObject): JsonObject {
  return mapSubschemas(
    moveType(schema),
    (subschema) => isJsonObject(subschema) ? moveTypes(subschema) : subschema,
  );
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
