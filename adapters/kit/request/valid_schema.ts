/**
 * Schemas that providers accept, for schemas of any origin.
 *
 * A provider rejects a request with all of its tools if the schema of one is not of draft 2020-12 of JSON Schema, as
 * those of MCP servers often are not.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";
import { inlineMovedReferences } from "./moved_references.ts";
import { isPortablePattern } from "./portable_pattern.ts";

/** The values that draft 2020-12 allows, by keyword; the older keywords among them are rewritten. */
// `core/json_schema` is loaded with an agent: shared with adapters, its code would be a further file of a bundle.
const VALUES: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ...["$comment", "$ref", "description", "format", "pattern", "title"].map(withCheck(isText)),
  ...["$defs", "definitions", "dependencies", "dependentRequired"].map(withCheck(isJsonObject)),
  ...["dependentSchemas", "patternProperties", "properties"].map(withCheck(isJsonObject)),
  ...["allOf", "anyOf", "oneOf", "prefixItems"].map(withCheck(isFilledList)),
  ...["maxContains", "maxItems", "maxLength", "maxProperties"].map(withCheck(isCount)),
  ...["minContains", "minItems", "minLength", "minProperties"].map(withCheck(isCount)),
  ...["maximum", "minimum"].map(withCheck(isNumber)),
  ...["exclusiveMaximum", "exclusiveMinimum"].map(
    withCheck((value) => isFlag(value) || isNumber(value)),
  ),
  ...["deprecated", "readOnly", "uniqueItems", "writeOnly"].map(withCheck(isFlag)),
  ...["enum", "examples"].map(withCheck(Array.isArray)),
  ["multipleOf", (value) => isNumber(value) && Number(value) > 0],
  ["required", (value) => Array.isArray(value) && value.every(isText)],
  ["type", (value) => [value].flat().every(isType) && (!Array.isArray(value) || value.length > 0)],
]);

/**
 * Returns a schema in draft 2020-12: keywords of older drafts are rewritten, and those with an invalid value omitted. Each
 * array has a schema of its items, which OpenAI and Google require, and patterns that not all providers support are in the
 * description.
 */
export function toValidSchema(schema: JsonSchema): JsonSchema {
  return inlineMovedReferences(convertSchema(schema), { original: schema, convert: convertSchema });
}

function convertSchema(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(([keyword, value]) =>
    value !== undefined && (VALUES.get(keyword)?.(value) ?? true)
  );
  const described = describePatterns(Object.fromEntries(entries));
  const rewritten = withoutRepetitions(rewriteOlderKeywords(described));
  return mapSubschemas(withItems(rewritten), (subschema, keyword) => {
    if (isJsonObject(subschema)) return convertSchema(subschema);
    const isSchema = subschema === false || (subschema === true && keyword !== "properties");
    return isSchema ? subschema : {};
  });
}

/** Moves patterns that are not portable to the description, where the model reads them. */
function describePatterns(schema: JsonObject): JsonObject {
  const { pattern, patternProperties } = schema;
  const names = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  const others = names.filter((name) => !isPortablePattern(name));
  const notes = [
    ...typeof pattern === "string" && !isPortablePattern(pattern)
      ? [`{pattern: ${JSON.stringify(pattern)}}`]
      : [],
    ...others.length > 0 ? [`{patternProperties: ${JSON.stringify(others)}}`] : [],
  ];
  if (notes.length === 0) return schema;
  return omitPatterns({ ...schema, description: joinNotes(schema["description"], notes) });
}

/** Omits patterns that are not portable. An object that such names may have accepts any name. */
function omitPatterns({ pattern, patternProperties, ...schema }: JsonObject): JsonObject {
  const names = isJsonObject(patternProperties) ? Object.entries(patternProperties) : [];
  const portable = names.filter(([name]) => isPortablePattern(name));
  const { additionalProperties, ...others } = schema;
  const isOpen = portable.length < names.length && additionalProperties === false;
  return {
    ...isOpen ? others : schema,
    ...(typeof pattern === "string" && isPortablePattern(pattern) && { pattern }),
    ...(portable.length > 0 && { patternProperties: Object.fromEntries(portable) }),
  };
}

function joinNotes(description: unknown, notes: readonly string[]): string {
  return [...typeof description === "string" && description ? [description] : [], ...notes].join(
    "\n\n",
  );
}

/** Rewrites keywords of older drafts; the others keep their order, so that the same schema has the same text. */
function rewriteOlderKeywords(schema: JsonObject): JsonObject {
  const { additionalItems: _items, dependencies: _dependencies, ...others } = schema;
  return {
    ...others,
    ...rewriteTuple(schema),
    ...rewriteLimit(schema, "minimum", "exclusiveMinimum"),
    ...rewriteLimit(schema, "maximum", "exclusiveMaximum"),
    ...rewriteDependencies(schema),
  };
}

/** Rewrites a list of `items`, and `additionalItems`, of draft 7. */
function rewriteTuple({ items, additionalItems }: JsonObject): JsonObject {
  if (!Array.isArray(items)) return {};
  return {
    items: additionalItems,
    ...(items.length > 0 && { prefixItems: items }),
  };
}

/** Rewrites `exclusiveMinimum: true` or `exclusiveMaximum: true` of draft 4. */
function rewriteLimit(schema: JsonObject, name: string, exclusiveName: string): JsonObject {
  const { [name]: limit, [exclusiveName]: exclusive } = schema;
  if (!isFlag(exclusive)) return {};
  return exclusive ? { [name]: undefined, [exclusiveName]: limit } : { [exclusiveName]: undefined };
}

/** Rewrites `dependencies` of draft 7. */
function rewriteDependencies(schema: JsonObject): JsonObject {
  const { dependencies, dependentRequired, dependentSchemas } = schema;
  if (!isJsonObject(dependencies)) return {};
  const select = (isSelected: (dependency: unknown) => boolean, own: unknown) => {
    const selected = Object.entries(dependencies).filter(([, each]) => isSelected(each));
    return selected.length > 0 ? { ...Object.fromEntries(selected), ...Object(own) } : own;
  };
  return {
    dependentRequired: select(Array.isArray, dependentRequired),
    dependentSchemas: select((each) => !Array.isArray(each), dependentSchemas),
  };
}

/** Omits repeated names of required properties and of types, which the draft forbids, and undefined keywords. */
function withoutRepetitions(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([keyword, value]) =>
      ["required", "type"].includes(keyword) && Array.isArray(value)
        ? [keyword, [...new Set(value)]]
        : [keyword, value]
    ),
  );
}

/** Adds the schema of the items of an array, an object in place of `true` and `false`, which some providers reject. */
function withItems(schema: JsonObject): JsonObject {
  const { type, items, prefixItems, maxItems } = schema;
  if (![type].flat().includes("array") || isJsonObject(items)) return schema;
  if (items !== false) return { ...schema, items: {} };
  const count = Array.isArray(prefixItems) ? prefixItems.length : 0;
  return { ...schema, items: {}, maxItems: maxItems ?? count };
}

/** Returns a function that creates the entry of a keyword with this check. */
function withCheck(
  isValid: (value: unknown) => boolean,
): (keyword: string) => [string, (value: unknown) => boolean] {
  return (keyword) => [keyword, isValid];
}

const TYPES: readonly unknown[] = [
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
];

function isType(value: unknown): boolean {
  return TYPES.includes(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isNumber(value: unknown): boolean {
  return Number.isFinite(value);
}

function isFlag(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0;
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}
