/**
 * Compiles the patterns and schemas of expectations.
 *
 * @module
 */

import { compileSchema, getIgnored } from "../../core/compile_schema.ts";
import { BadRequestError } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/json.ts";
import { createMatcher, loadMatchers, type Matcher } from "../../core/json_schema/pattern.ts";
import { type CompiledSchema, formatIgnored } from "../../core/schema.ts";

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
 * would accept any value.
 *
 * @throws {BadRequestError} If the schema is invalid, or a keyword is not supported.
 */
export async function compileExpectedSchema(schema: JsonSchema): Promise<CompiledSchema> {
  const compiled = await compileSchema(schema);
  const ignored = getIgnored(schema);
  if (ignored.length === 0) return compiled;
  throw new BadRequestError(`Invalid JSON Schema: ${formatIgnored(ignored)}`);
}
