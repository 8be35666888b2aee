/**
 * Compiles the patterns and schemas of expectations.
 *
 * @module
 */

import { checkMisspellings } from "../../core/checks/check_names.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonSchema } from "../../core/json/json.ts";
import type { JsonRecord } from "../../core/json_schema/json_object.ts";
import { createMatcher, loadMatchers, type Matcher } from "../../core/json_schema/pattern.ts";
import { getSubschemas } from "../../core/json_schema/subschemas.ts";
import { compileSchema, getIgnored } from "../../core/schemas/compile_schema.ts";
import { type CompiledSchema, formatIgnored } from "../../core/schemas/schema.ts";

/**
 * Compiles a pattern, whose time is linear.
 *
 * @throws {Error} If it is invalid.
 */
export async function compilePattern(pattern: string): Promise<Matcher> {
  await loadMatchers([pattern]);
  return createMatcher(pattern);
}

/**
 * Compiles a schema. Unlike for the arguments of tools, each keyword must be checked: an expectation that is ignored
 * would accept any value. Keywords of other vocabularies are allowed, and misspelled ones are not.
 *
 * @throws {BadRequestError} If the schema is invalid, or a keyword is not supported.
 */
export async function compileExpectedSchema(schema: JsonSchema): Promise<CompiledSchema> {
  const compiled = await compileSchema(schema);
  checkKeywords(schema);
  const ignored = getIgnored(schema);
  if (ignored.length === 0) return compiled;
  throw new BadRequestError(`Invalid JSON Schema: ${formatIgnored(ignored)}`);
}

/** The keywords of all drafts, and of OpenAPI. */
const KEYWORDS: readonly string[] = [
  ...["$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$ref", "$schema"],
  ...["$vocabulary", "additionalItems", "additionalProperties", "allOf", "anyOf", "const"],
  ...["contains", "contentEncoding", "contentMediaType", "contentSchema", "default", "definitions"],
  ...["dependencies", "dependentRequired", "dependentSchemas", "deprecated", "description", "else"],
  ...["enum", "example", "examples", "exclusiveMaximum", "exclusiveMinimum", "format", "id", "if"],
  ...["items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains"],
  ...["minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "nullable"],
  ...["oneOf", "pattern", "patternProperties", "prefixItems", "properties", "propertyNames"],
  ...["readOnly", "required", "then", "title", "type", "unevaluatedItems"],
  ...["unevaluatedProperties", "uniqueItems", "writeOnly"],
];

/** A misspelled keyword would be one of another vocabulary, which checks nothing. */
function checkKeywords(root: JsonSchema): void {
  const schemas: JsonRecord[] = [root];
  for (const schema of schemas) {
    const names = Object.keys(schema).filter((name) => !name.startsWith("x-"));
    checkMisspellings(
      Object.fromEntries(names.map((name) => [name, true])),
      KEYWORDS,
      "the schema",
    );
    schemas.push(...getSubschemas(schema));
  }
}
