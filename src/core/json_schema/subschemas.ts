/**
 * The keywords of JSON Schema whose values contain schemas.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";

/** Form of a keyword's value: a schema, a list of schemas, or schemas by name. */
const KEYWORD_FORMS: ReadonlyMap<string, "schema" | "list" | "map"> = new Map([
  ["$defs", "map"],
  ["additionalProperties", "schema"],
  ["allOf", "list"],
  ["anyOf", "list"],
  ["contains", "schema"],
  ["definitions", "map"],
  ["dependentSchemas", "map"],
  ["else", "schema"],
  ["if", "schema"],
  ["items", "schema"],
  ["not", "schema"],
  ["oneOf", "list"],
  ["patternProperties", "map"],
  ["prefixItems", "list"],
  ["properties", "map"],
  ["propertyNames", "schema"],
  ["then", "schema"],
  ["unevaluatedItems", "schema"],
  ["unevaluatedProperties", "schema"],
]);

/** Returns the direct subschemas of a schema, without `true` and `false`. */
export function getSubschemas(schema: JsonRecord): JsonRecord[] {
  const subschemas: unknown[] = [];
  mapSubschemas(schema, (subschema) => {
    subschemas.push(subschema);
    return subschema;
  });
  return subschemas.filter(isRecord);
}

/** Returns a copy of a schema whose direct subschemas are replaced; `keys` lead to a subschema. */
export function mapSubschemas(
  schema: JsonRecord,
  replace: (subschema: unknown, ...keys: (string | number)[]) => unknown,
): JsonRecord {
  const entries = Object.entries(schema).map(([keyword, value]) => {
    const form = KEYWORD_FORMS.get(keyword);
    if (form === "schema") return [keyword, replace(value, keyword)];
    if (form === "list" && Array.isArray(value)) {
      return [keyword, value.map((item, index) => replace(item, keyword, index))];
    }
    if (form !== "map" || !isRecord(value)) return [keyword, value];
    const members = Object.entries(value).map(([name, item]) => [
      name,
      replace(item, keyword, name),
    ]);
    return [keyword, Object.fromEntries(members)];
  });
  return Object.fromEntries(entries);
}

/** A keyword that is added next to every `$ref`, so that a validator can count the references that it follows. */
export const REFERENCE_COUNTER = "countReference";
