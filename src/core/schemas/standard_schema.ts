/**
 * Validators that implement Standard Schema, such as Zod, Valibot and ArkType.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../errors/errors.ts";
import { isThenable } from "../errors/refuse_promise.ts";
import { isJsonObject, type JsonSchema } from "../json/json.ts";
import { escapeKey } from "../json_schema/json_object.ts";
import { isLibrarySchema } from "../json_schema/library_schema.ts";
import type { ValidationError } from "../json_schema/validation_error.ts";
import type { SchemaSource, StandardJsonSchemaSource } from "./infer.ts";
import type { ValidationResult } from "./schema.ts";

/** Advice for libraries whose validators do not provide their JSON Schema. */
const JSON_SCHEMA_HINTS: ReadonlyMap<string, string> = new Map([
  ["valibot", "wrap it in toStandardJsonSchema() of @valibot/to-json-schema"],
  ["zod", "use Zod 4.2 or later, or pass z.toJSONSchema(schema)"],
]);

/** Functions that check values by a library, and so all that its JSON Schema requires. */
export const libraryChecks = new WeakSet<object>();

/**
 * Returns the JSON Schema of a schema source: of a validator, the schema of its input.
 *
 * @throws {BadRequestError} If the source is neither a validator nor plain data, or a validator does not provide its JSON
 * Schema, or has none, as for dates. The message starts with `subject`.
 */
export function toJsonSchema(source: SchemaSource, subject: string): JsonSchema {
  if (!isStandardSchema(source)) {
    if (!isLibrarySchema(source)) return source as JsonSchema;
    throw new BadRequestError(
      `${subject} must be a JSON Schema or a Standard Schema`,
    );
  }
  const { jsonSchema, vendor } = source["~standard"];
  const problem = `${subject}: ${vendor} has no JSON Schema for it`;
  if (!jsonSchema) {
    const hint = JSON_SCHEMA_HINTS.get(vendor) ?? "pass a JSON Schema";
    throw new BadRequestError(`${problem}: ${hint}`);
  }
  try {
    return { ...jsonSchema.input({ target: "draft-2020-12" }) };
  } catch (cause) {
    throw new BadRequestError(`${problem}: ${getErrorMessage(cause)}`, { cause });
  }
}

/** Checks a value with a validator and returns its output, at once or as a promise as the validator does. */
export type ValidateFunction = (
  value: unknown,
) => ValidationResult<unknown> | Promise<ValidationResult<unknown>>;

/** Returns the function that checks values with a validator, or `undefined` for a JSON Schema. It may throw. */
export function getValidateFunction(source: SchemaSource): ValidateFunction | undefined {
  if (!isStandardSchema(source)) return undefined;
  const { "~standard": standard } = source;
  if (typeof standard.validate !== "function") return undefined;
  const check: ValidateFunction = (value) => {
    const result = standard.validate?.(value);
    return isThenable(result)
      ? Promise.resolve(result).then(toValidationResult)
      : toValidationResult(result);
  };
  libraryChecks.add(check);
  return check;
}

function toValidationResult(result: unknown): ValidationResult<unknown> {
  // Whatever object it is: ArkType returns a list of issues that has itself as `issues`.
  const outcome: { readonly issues?: unknown; readonly value?: unknown } = Object(result);
  const { issues, value } = outcome;
  if (!issues && !("value" in outcome)) {
    throw new BadRequestError("The validator must return a value or issues");
  }
  if (!issues) return { valid: true, value };
  // A list of issues means a failure, even if it is empty or malformed.
  const list: readonly unknown[] = Array.isArray(issues) && issues.length > 0 ? issues : [issues];
  return { valid: false, errors: list.map(toValidationError) };
}

/** Converts an issue of a validator; its path has keys, or objects with a key. */
function toValidationError(issue: unknown): ValidationError {
  const { message, path } = isJsonObject(issue) ? issue : {};
  const keys: readonly unknown[] = Array.isArray(path) ? path : [];
  const pointer = keys.map((key) => `/${escapeKey(String(isJsonObject(key) ? key["key"] : key))}`);
  return { path: pointer.join(""), message: typeof message === "string" ? message : "is invalid" };
}

function isStandardSchema(source: SchemaSource): source is StandardJsonSchemaSource {
  const { "~standard": standard } = (source ?? {}) as { readonly "~standard"?: unknown };
  return isJsonObject(standard);
}
