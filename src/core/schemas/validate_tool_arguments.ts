/**
 * Validates the arguments of tool calls for applications.
 *
 * @module
 */

import type { JsonSchema } from "../json/json.ts";
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
  const { validateObject } = await import("./compile_schema.ts");
  return await validateObject(schema, args, validator);
}
