/**
 * Compiles schemas with any validator, and runs and reports their checks. Loaded by the first run.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../errors/errors.ts";
import { isInstance } from "../errors/is_instance.ts";
import { ignoreRejections } from "../errors/refuse_promise.ts";
import { isJsonObject, type JsonSchema } from "../json/json.ts";
import type { IgnoredKeyword } from "../json_schema/ignored_keyword.ts";
import { canEval, getPlainCheck, type PlainCheck } from "../json_schema/plain_check.ts";
import type { ValidationError } from "../json_schema/validation_error.ts";
import {
  ajvValidator,
  type CompiledSchema,
  formatIgnored,
  normalizeOnce,
  type SchemaValidator,
  type ValidationResult,
} from "./schema.ts";
import { libraryChecks } from "./standard_schema.ts";

export { fillDefaults } from "../json_schema/defaults.ts";
export { toToolResult } from "../messages/to_tool_result.ts";

/** Maximum number of characters of a formatted error. */
const MAX_LINE = 2_000;

const compiledSchemas = new WeakMap<SchemaValidator, WeakMap<JsonSchema, CompiledSchema>>();

/**
 * Compiles a schema, once per validator and schema object. The result is a promise only if the validator returns one and
 * the schema is not compiled yet. `next` is the further check of the values that match, if there is one: where ajv cannot
 * compile, that of a library is enough.
 *
 * Throws a `BadRequestError`, or rejects with one, if the validator fails or does not return a function.
 */
export function compileSchema(
  schema: JsonSchema,
  chosen?: SchemaValidator,
  next?: object,
): CompiledSchema | Promise<CompiledSchema> {
  const validator = chosen ?? ajvValidator;
  const known = compiledSchemas.get(validator)?.get(schema);
  if (known) return known;
  if (validator === ajvValidator && next && libraryChecks.has(next) && !canEval()) return acceptAny;
  try {
    const compiled = validator(schema);
    if (typeof compiled === "function") return cacheCompiled(schema, validator, compiled);
    return awaitCompiled(schema, validator, compiled);
  } catch (cause) {
    throw toCompileError(cause);
  }
}

/** Accepts any value, which the library of its schema checks next: ajv cannot without `eval`. */
const acceptAny: CompiledSchema = () => [];

/**
 * Returns the check of plainly valid values of a schema, if that may make ajv unnecessary: if ajv is the validator and
 * has not compiled the schema.
 *
 * @throws {BadRequestError} If the schema is not an object, or is nested too deep.
 */
export function findPlainCheck(
  schema: JsonSchema,
  validator: SchemaValidator = ajvValidator,
): PlainCheck | undefined {
  if (validator !== ajvValidator || compiledSchemas.get(validator)?.has(schema)) return undefined;
  return getPlainCheck(normalizeOnce(schema));
}

/** Returns the keywords that a validator ignores in a schema; those that only ajv finds are missing before it compiles. */
export function getIgnored(
  schema: JsonSchema,
  validator: SchemaValidator = ajvValidator,
): readonly IgnoredKeyword[] {
  const compiled = compiledSchemas.get(validator)?.get(schema);
  if (compiled) return compiled.ignored ?? [];
  return validator === ajvValidator ? normalizeOnce(schema).ignored : [];
}

async function awaitCompiled(
  schema: JsonSchema,
  validator: SchemaValidator,
  pending: Promise<CompiledSchema>,
): Promise<CompiledSchema> {
  try {
    return cacheCompiled(schema, validator, await pending);
  } catch (cause) {
    throw toCompileError(cause);
  }
}

function cacheCompiled(
  schema: JsonSchema,
  validator: SchemaValidator,
  compiled: CompiledSchema,
): CompiledSchema {
  if (typeof compiled !== "function") {
    throw new BadRequestError("The validator must return a function that returns a list of errors");
  }
  const schemas = compiledSchemas.get(validator) ?? new WeakMap<JsonSchema, CompiledSchema>();
  compiledSchemas.set(validator, schemas.set(schema, compiled));
  return compiled;
}

function toCompileError(cause: unknown): BadRequestError {
  if (isInstance(cause, BadRequestError)) return cause;
  const message = isInstance(cause, EvalError)
    ? "Cannot compile the JSON Schema because this runtime forbids eval: pass a `validator` that does not use it"
    : `Invalid JSON Schema: ${getErrorMessage(cause)}`;
  return new BadRequestError(message, { cause });
}

/**
 * Returns the errors of a value.
 *
 * @throws {BadRequestError} If the validator fails or does not return a list of errors.
 */
export function runCompiled(compiled: CompiledSchema, value: unknown): readonly ValidationError[] {
  let errors: unknown;
  try {
    errors = compiled(value);
  } catch (cause) {
    throw new BadRequestError(`The validator failed: ${getErrorMessage(cause)}`, { cause });
  }
  return expectErrors(errors, "The validator");
}

/**
 * Returns a list of errors from code of unknown quality; `source` names it in the message.
 *
 * @throws {BadRequestError} If the value is not a list of errors.
 */
export function expectErrors(errors: unknown, source: string): readonly ValidationError[] {
  if (Array.isArray(errors) && errors.every(isValidationError)) return errors;
  ignoreRejections(errors);
  throw new BadRequestError(
    `${source} must return a list of errors, each with a path and a message`,
  );
}

function isValidationError(error: unknown): error is ValidationError {
  return isJsonObject(error) && typeof error["path"] === "string" &&
    typeof error["message"] === "string";
}

/**
 * Validates a value that must be an object, by a schema that must be valid.
 *
 * @throws {BadRequestError} If the schema is invalid, or the validator fails.
 */
export async function validateObject(
  schema: JsonSchema,
  value: unknown,
  validator?: SchemaValidator,
): Promise<ValidationResult> {
  if (isJsonObject(value) && findPlainCheck(schema, validator)?.(value)) {
    assertValidSchema(getIgnored(schema, validator));
    return { valid: true, value };
  }
  const compiled = await compileSchema(schema, validator);
  assertValidSchema(compiled.ignored);
  if (!isJsonObject(value)) {
    return { valid: false, errors: [{ path: "", message: "must be object" }] };
  }
  const errors = runCompiled(compiled, value);
  return errors.length === 0 ? { valid: true, value } : { valid: false, errors };
}

/**
 * Throws if keywords are ignored because they are invalid, rather than not supported.
 *
 * @throws {BadRequestError} With each keyword and what it must be.
 */
function assertValidSchema(ignored: readonly IgnoredKeyword[] = []): void {
  const invalid = ignored.filter(({ problem }) => problem === "invalid");
  if (invalid.length === 0) return;
  throw new BadRequestError(`Invalid JSON Schema: ${formatIgnored(invalid)}`);
}

/** Formats errors as one line each, for the model and the user; property names in a path may be of any length. */
export function formatErrors(errors: readonly ValidationError[]): string {
  const lines = errors.map(({ path, message }) => `- ${path || "(root)"}: ${message}`);
  return lines.map((line) => line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line).join(
    "\n",
  );
}
