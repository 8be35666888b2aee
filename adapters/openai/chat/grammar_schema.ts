/**
 * Schemas of tool parameters for servers that convert them to a grammar: llama.cpp, and programs that are based on it.
 *
 * Such a server rejects every request with a tool whose schema its grammar cannot express, as with a `maxLength` of 2000, a
 * list of 100 objects, or a pattern without `^` and `$`.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { mapSubschemas } from "../../../src/core/json_schema/subschemas.ts";

/** Keywords that become many rules of the grammar, or a regular expression that it may not support. */
const COSTLY_KEYWORDS = ["pattern", "minLength", "maxLength", "minItems", "maxItems"];

/** Converted schemas, since each request has the tools of the previous one. */
const grammarSchemas = new WeakMap<JsonSchema, JsonSchema>();

/** Moves the keywords that a grammar may not support to the descriptions, where the model reads them. */
export function toGrammarSchema(schema: JsonSchema): JsonSchema {
  const known = grammarSchemas.get(schema);
  if (known) return known;
  const converted = mapSubschemas(
    describeKeywords(schema),
    (subschema) => isJsonObject(subschema) ? toGrammarSchema(subschema) : subschema,
  );
  grammarSchemas.set(schema, converted);
  return converted;
}

function describeKeywords(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema);
  const isCostly = ([keyword]: readonly [string, unknown]) => COSTLY_KEYWORDS.includes(keyword);
  const notes = entries.filter(isCostly).map(([keyword, value]) =>
    `${keyword}: ${JSON.stringify(value)}`
  );
  if (notes.length === 0) return schema;
  const { description, ...others } = Object.fromEntries(
    entries.filter((entry) => !isCostly(entry)),
  );
  const note = `{${notes.join(", ")}}`;
  return { ...others, description: description ? `${description}\n\n${note}` : note };
}
