/**
 * Validates the arguments of tool calls for applications.
 *
 * @module
 */

import { isJsonObject, type JsonSchema } from "./json.ts";
import type { SchemaValidator, ValidationResult } from "./schema.ts";

/**
 * Validates the arguments of a tool call.
 *
 * @throws {BadRequestError} If the schema is invalid.
 *
 * @example
 * ```ts
 * import { validateToolArguments } from "@swink/agent";
 *
 * const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
 * await validateToolArguments(schema, { city: 5 });
 * // { valid: false, errors: [{ path: "/city", message: "must be string" }] }
 * ```
 */
export async function validateToolArguments(
  schema: JsonSchema,
  args: unknown,
  validator?: SchemaValidator,
): Promise<ValidationResult> {
  const { assertValidSchema, compileSchema, findPlainCheck, getIgnored, runCompiled } =
    await import("./compile_schema.ts");
  if (isJsonObject(args) && findPlainCheck(schema, validator)?.(args)) {
    assertValidSchema(getIgnored(schema, validator));
    return { valid: true, value: args };
  }
  const compiled = await compileSchema(schema, validator);
  assertValidSchema(compiled.ignored);
  if (!isJsonObject(args)) {
    return { valid: false, errors: [{ path: "", message: "must be object" }] };
  }
  const errors = runCompiled(compiled, args);
  return errors.length === 0 ? { valid: true, value: args } : { valid: false, errors };
}
