/**
 * Schemas of tool parameters for Fireworks, which rejects a request with a tool that has a schema without a type: "JSON Schema
 * not supported: could not understand the instance".
 *
 * @module
 */

import { isJsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";
import { toToolSchema } from "../../kit/request/tool_schema.ts";
import { inferType } from "./inferred_type.ts";

/** Keywords that make a type unnecessary. */
const TYPE_KEYWORDS = ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"];
const ALL_TYPES = ["string", "number", "boolean", "object", "array", "null"];

/** Returns a schema in which each subschema has a type. */
export function toTypedSchema(parameters: JsonSchema): JsonSchema {
  return addTypes(toToolSchema(parameters));
}

function addTypes(schema: JsonSchema): JsonSchema {
  return mapSubschemas(
    TYPE_KEYWORDS.some((keyword) => keyword in schema)
      ? schema
      : { type: inferType(schema) ?? ALL_TYPES, ...schema },
    (subschema) => isJsonObject(subschema) ? addTypes(subschema) : subschema,
  );
}
