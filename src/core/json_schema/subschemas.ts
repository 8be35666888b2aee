/**
 * The keywords of JSON Schema whose values contain schemas.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";

/** Form of a keyword's value: a schema, a list of schemas, schemas by name, or, in old drafts, one of two of these. */
type SchemaForm = "schema" | "list" | "map" | "schema_or_list";

const KEYWORD_FORMS: Readonly<Record<string, SchemaForm>> = {
  $defs: "map",
  additionalItems: "schema",
  additionalProperties: "schema",
  allOf: "list",
  anyOf: "list",
  contains: "schema",
  definitions: "map",
  dependencies: "map",
  dependentSchemas: "map",
  else: "schema",
  if: "schema",
  items: "schema_or_list",
  not: "schema",
  oneOf: "list",
  patternProperties: "map",
  prefixItems: "list",
  properties: "map",
  propertyNames: "schema",
  then: "schema",
  unevaluatedItems: "schema",
  unevaluatedProperties: "schema",
};

/** Returns the direct subschemas of a schema, without `true` and `false`. */
export function getSubschemas(schema: JsonRecord): JsonRecord[] {
  const subschemas: unknown[] = [];
  mapSubschemas(schema, (subschema) => {
    subschemas.push(subschema);
    return subschema;
  });
  return subschemas.filter(isRecord);
}

/** Returns a copy of a schema whose direct subschemas are replaced, except `true` and `false`. */
export function mapSubschemas(
  schema: JsonRecord,
  replace: (subschema: JsonRecord) => JsonRecord,
): JsonRecord {
  const map = (value: unknown) => isRecord(value) ? replace(value) : value;
  const entries = Object.entries(schema).map(([keyword, value]) => {
    const form = Object.hasOwn(KEYWORD_FORMS, keyword) ? KEYWORD_FORMS[keyword] : undefined;
    if (Array.isArray(value) && form?.includes("list")) return [keyword, value.map(map)];
    if (!isRecord(value) || form === undefined) return [keyword, value];
    if (form !== "map") return [keyword, map(value)];
    const members = Object.entries(value).map(([name, member]) => [name, map(member)]);
    return [keyword, Object.fromEntries(members)];
  });
  return Object.fromEntries(entries);
}
