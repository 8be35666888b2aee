/**
 * The parameters of a tool: their JSON Schema, and what follows its check.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";
import { type JsonSchema, toJsonValue } from "../json/json.ts";
import type { SchemaSource } from "./infer.ts";
import { formatIgnored, normalizeOnce } from "./schema.ts";
import { getValidateFunction, type ValidateFunction } from "./standard_schema.ts";

/**
 * Returns the function that follows the check against the JSON Schema of a source: the validator of a library, or one
 * that fills in defaults; `undefined` if the value is used as it is.
 *
 * @throws {BadRequestError} If the JSON Schema is invalid. The message starts with `subject`.
 */
export function createValidate(
  source: SchemaSource,
  schema: JsonSchema,
  subject: string,
): ValidateFunction | undefined {
  const conversion = toJsonValue(schema);
  if ("problem" in conversion) {
    throw new BadRequestError(`${subject} is not JSON: ${conversion.problem}`);
  }
  const { schema: normalized, ignored, hasDefaults } = normalizeOnce(schema);
  const invalid = ignored.filter(({ problem }) => problem === "invalid");
  if (invalid.length > 0) {
    throw new BadRequestError(`${subject} is invalid: ${formatIgnored(invalid)}`);
  }
  const validate = getValidateFunction(source);
  if (validate || !hasDefaults) return validate;
  return async (value) => {
    const { fillDefaults } = await import("./compile_schema.ts");
    return { valid: true, value: fillDefaults(normalized, value) };
  };
}
