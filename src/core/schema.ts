/**
 * Validation against JSON Schemas (draft 2020-12, and older drafts back to draft 4).
 *
 * The default validator is ajv, which takes 40 ms to load; a run loads it while it waits for the model. It compiles with
 * `new Function`; a runtime that forbids `eval` needs another {@linkcode SchemaValidator}.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "./errors.ts";
import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  MAX_JSON_DEPTH,
} from "./json.ts";
import {
  type AjvSchema,
  compileWithAjv,
  isAjvLoaded,
  preloadAjv,
} from "./json_schema/ajv_validator.ts";
import type { IgnoredKeyword } from "./json_schema/ignored_keyword.ts";
import { type NormalizedSchema, normalizeSchema } from "./json_schema/normalize_schema.ts";
import type { ValidationError } from "./json_schema/validation_error.ts";
import { isThenable } from "./refuse_promise.ts";
import { TextCache } from "./text_cache.ts";

/** Result of a validation. */
export type ValidationResult<Value = JsonObject> =
  | { readonly valid: true; readonly value: Value }
  | { readonly valid: false; readonly errors: readonly ValidationError[] };

/** A compiled schema: a function that validates a value. */
export interface CompiledSchema {
  /** Returns the errors of a value; none if it is valid. */
  (value: unknown): readonly ValidationError[];
  /** The keywords of the schema that are not checked. Default: none. */
  readonly ignored?: readonly IgnoredKeyword[];
}

/**
 * Compiles a schema; throws if it cannot be used. Default of an agent: {@linkcode ajvValidator}. Pass another one
 * for formats or vocabularies that it does not check.
 */
export type SchemaValidator = (schema: JsonSchema) => CompiledSchema | Promise<CompiledSchema>;

/** Maximum number of characters of a formatted error. */
const MAX_LINE = 2_000;

const compiledTexts = new TextCache<AjvSchema>();
const compiledSchemas = new WeakMap<SchemaValidator, WeakMap<JsonSchema, CompiledSchema>>();

/**
 * Compiles a schema with ajv (draft 2020-12, and older drafts back to draft 4): reports all errors, does not check
 * formats and never loads another document. Keywords that cannot be checked are ignored and listed. The result is a
 * promise until ajv is loaded; schemas with the same text share it.
 *
 * @throws {BadRequestError} If the schema is not an object, or is nested too deep.
 *
 * @example
 * ```ts
 * import { ajvValidator } from "@swink/agent";
 *
 * const validate = await ajvValidator({ type: "object", required: ["city"] });
 * validate({}); // [{ path: "/city", message: "is required" }]
 * ```
 */
export function ajvValidator(schema: JsonSchema): CompiledSchema | Promise<CompiledSchema> {
  const normalized = normalizeOnce(schema);
  const text = JSON.stringify(normalized.schema);
  const finish = (compiled: AjvSchema): CompiledSchema => {
    compiledTexts.set(text, compiled);
    return toCompiledSchema(compiled, normalized);
  };
  const compiled = compiledTexts.get(text) ?? compileWithAjv(normalized);
  return compiled instanceof Promise ? compiled.then(finish) : finish(compiled);
}

/** Whether a validator has a part that is not loaded yet. */
export function canPreload(validator: SchemaValidator): boolean {
  return validator === ajvValidator && !isAjvLoaded();
}

/** Starts to load a validator that is loaded on first use, so that it is ready for the first tool call. */
export function preloadValidator(validator: SchemaValidator): void {
  if (canPreload(validator)) preloadAjv();
}

/** Whether a validator is ajv, and has not compiled a schema yet. */
export function needsAjv(schema: JsonSchema, validator: SchemaValidator): boolean {
  return validator === ajvValidator && !compiledSchemas.get(validator)?.has(schema);
}

function toCompiledSchema(
  { validate, ignored }: AjvSchema,
  { ignored: removed }: NormalizedSchema,
): CompiledSchema {
  return Object.assign((value: unknown) => validate(value), { ignored: [...removed, ...ignored] });
}

const normalizedSchemas = new WeakMap<JsonSchema, NormalizedSchema>();

/**
 * Prepares a schema for ajv, once per schema object.
 *
 * @throws {BadRequestError} If the schema is not an object, or is nested too deep.
 */
export function normalizeOnce(schema: JsonSchema): NormalizedSchema {
  if (!isJsonObject(schema)) throw new BadRequestError("A JSON Schema must be an object");
  const known = normalizedSchemas.get(schema);
  if (known) return known;
  if (isDeeperThan(schema, MAX_JSON_DEPTH)) {
    throw new BadRequestError(`The JSON Schema is nested more than ${MAX_JSON_DEPTH} levels deep`);
  }
  const normalized = normalizeSchema(schema);
  normalizedSchemas.set(schema, normalized);
  return normalized;
}

/**
 * Compiles a schema, once per validator and schema object. The result is a promise only if the validator returns one and
 * the schema is not compiled yet.
 *
 * Throws a `BadRequestError`, or rejects with one, if the validator fails or does not return a function.
 */
export function compileSchema(
  schema: JsonSchema,
  validator: SchemaValidator = ajvValidator,
): CompiledSchema | Promise<CompiledSchema> {
  const known = compiledSchemas.get(validator)?.get(schema);
  if (known) return known;
  try {
    const compiled = validator(schema);
    if (typeof compiled === "function") return cacheCompiled(schema, validator, compiled);
    return awaitCompiled(schema, validator, compiled);
  } catch (cause) {
    throw toCompileError(cause);
  }
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
  if (cause instanceof BadRequestError) return cause;
  const message = cause instanceof EvalError
    ? "Cannot compile the JSON Schema because this runtime forbids eval: pass a `validator` that does not use it"
    : `Invalid JSON Schema: ${getErrorMessage(cause)}`;
  return new BadRequestError(message, { cause });
}

/** Returns the keywords that a validator ignores in a schema; those that only ajv finds are missing before it compiles. */
export function getIgnored(
  schema: JsonSchema,
  validator: SchemaValidator,
): readonly IgnoredKeyword[] {
  const compiled = compiledSchemas.get(validator)?.get(schema);
  if (compiled) return compiled.ignored ?? [];
  return validator === ajvValidator ? normalizeOnce(schema).ignored : [];
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
  // The rejection of a promise that is refused must not end the process.
  if (isThenable(errors)) errors.then(undefined, () => {});
  if (Array.isArray(errors) && errors.every(isValidationError)) return errors;
  throw new BadRequestError(
    `${source} must return a list of errors, each with a path and a message`,
  );
}

function isValidationError(error: unknown): error is ValidationError {
  return isJsonObject(error) && typeof error["path"] === "string" &&
    typeof error["message"] === "string";
}

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
  validator: SchemaValidator = ajvValidator,
): Promise<ValidationResult> {
  if (needsAjv(schema, validator) && isJsonObject(schema) && isJsonObject(args)) {
    const { getPlainCheck } = await import("./json_schema/plain_check.ts");
    const normalized = normalizeOnce(schema);
    assertValidSchema(normalized.ignored);
    if (getPlainCheck(normalized)?.(args)) return { valid: true, value: args };
  }
  const compiled = await compileSchema(schema, validator);
  assertValidSchema(compiled.ignored);
  if (!isJsonObject(args)) {
    return { valid: false, errors: [{ path: "", message: "must be object" }] };
  }
  const errors = runCompiled(compiled, args);
  return errors.length === 0 ? { valid: true, value: args } : { valid: false, errors };
}

/**
 * Throws if keywords are ignored because they are invalid, rather than not supported.
 *
 * @throws {BadRequestError} With each keyword and what it must be.
 */
export function assertValidSchema(ignored: readonly IgnoredKeyword[] = []): void {
  const invalid = ignored.filter(({ problem }) => problem === "invalid");
  if (invalid.length === 0) return;
  throw new BadRequestError(`Invalid JSON Schema: ${formatIgnored(invalid)}`);
}

/** Formats ignored keywords on one line. */
export function formatIgnored(ignored: readonly IgnoredKeyword[]): string {
  return ignored.map(({ path, message }) => `${path || "(root)"} ${message}`).join("; ");
}

/** Formats errors as one line each, for the model and the user; property names in a path may be of any length. */
export function formatErrors(errors: readonly ValidationError[]): string {
  const lines = errors.map(({ path, message }) => `- ${path || "(root)"}: ${message}`);
  return lines.map((line) => line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line).join(
    "\n",
  );
}
