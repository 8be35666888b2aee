/**
 * Types of schemas without one, for servers that require it.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";

/** Keywords by the type to which they apply. */
const KEYWORDS: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ["object", [
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
  ]],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]],
  ["string", ["minLength", "maxLength", "pattern", "format"]],
  ["number", ["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]],
];

/** Returns the type that the keywords of a schema imply; `undefined` if it accepts any value. */
export function inferType(schema: JsonObject): string | undefined {
  const { enum: values } = schema;
  if ("const" in schema) return getCommonType([schema["const"]]);
  if (Array.isArray(values) && values.length > 0) return getCommonType(values);
  return KEYWORDS.find(([, keywords]) => keywords.some((keyword) => keyword in schema))?.[0];
}

/** Returns the type of all values; `string` for values of several types, which servers do not compare with it. */
function getCommonType(values: readonly unknown[]): string {
  const types = [...new Set(values.map(getType))];
  const [first = "string"] = types;
  if (types.length === 1) return first;
  return types.every((type) => type === "number" || type === "integer") ? "number" : "string";
}

function getType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
