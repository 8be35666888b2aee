/**
 * Schemas that providers accept, for schemas of any origin.
 *
 * A provider rejects a request with all of its tools if the schema of one is not of draft 2020-12 of JSON Schema, as
 * those of MCP servers often are not.
 *
 * @module
 */

import type { JsonSchema } from "../../../src/core/json.ts";
import { isRecord, type JsonRecord } from "../../../src/core/json_schema/json_object.ts";
import { findKeywordProblem } from "../../../src/core/json_schema/keyword_problem.ts";
import { rewriteOlderKeywords } from "../../../src/core/json_schema/older_keywords.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";

/** Keywords whose value is a text. */
const TEXT_KEYWORDS: readonly string[] = ["$comment", "description", "format", "title"];

/**
 * Returns a schema in draft 2020-12: keywords of older drafts are rewritten, and those with an invalid value omitted. Each
 * array has a schema of its items, which OpenAI and Google require.
 */
export function toValidSchema(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(([keyword, value]) => isValid(keyword, value));
  const rewritten = withoutRepetitions(rewriteIfOlder(Object.fromEntries(entries)));
  return mapSubschemas(withItems(rewritten), (subschema, keyword) => {
    if (isRecord(subschema)) return toValidSchema(subschema);
    const isFlag = subschema === false || (subschema === true && keyword !== "properties");
    return isFlag ? subschema : {};
  });
}

function isValid(keyword: string, value: unknown): boolean {
  if (value === undefined || findKeywordProblem(keyword, value) !== undefined) return false;
  return typeof value === "string" || !TEXT_KEYWORDS.includes(keyword);
}

/** Rewrites keywords of older drafts; others keep their order, so that the same schema has the same text. */
function rewriteIfOlder(schema: JsonRecord): JsonRecord {
  const { items, exclusiveMinimum, exclusiveMaximum, additionalItems, dependencies } = schema;
  const isOlder = Array.isArray(items) || typeof exclusiveMinimum === "boolean" ||
    typeof exclusiveMaximum === "boolean" || additionalItems !== undefined ||
    dependencies !== undefined;
  return isOlder ? rewriteOlderKeywords(schema) : schema;
}

/** Omits repeated names of required properties and of types, which the draft forbids. */
function withoutRepetitions(schema: JsonRecord): JsonRecord {
  const repeated = ["required", "type"].filter((keyword) => {
    const { [keyword]: names } = schema;
    return Array.isArray(names) && new Set(names).size < names.length;
  });
  if (repeated.length === 0) return schema;
  const distinct = repeated.map((keyword) => [keyword, [...new Set(toList(schema[keyword]))]]);
  return { ...schema, ...Object.fromEntries(distinct) };
}

/** Adds the schema of the items of an array, an object in place of `true` and `false`, which some providers reject. */
function withItems(schema: JsonRecord): JsonRecord {
  const { type, items, prefixItems, maxItems } = schema;
  if (!toList(type).includes("array") || isRecord(items)) return schema;
  if (items !== false) return { ...schema, items: {} };
  return { ...schema, items: {}, maxItems: maxItems ?? toList(prefixItems).length };
}

function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
