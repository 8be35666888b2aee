/**
 * JSON Schema validation (draft 2020-12).
 *
 * The default validator is ajv. It takes 40 ms to load, so it is loaded when the first schema is compiled. It compiles
 * with `new Function`; a runtime that forbids `eval` needs another {@linkcode SchemaValidator}.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "./errors.ts";
import type { SchemaSource, StandardJsonSchemaSource } from "./infer.ts";
import { isJsonObject, type JsonObject, type JsonSchema } from "./json.ts";

/** A violation of a schema. */
export interface ValidationError {
  /** JSON Pointer to the invalid value; empty for the root. */
  readonly path: string;
  /** The expectation that failed, such as `"must be string"`. */
  readonly message: string;
}

/** Result of a validation. */
export type ValidationResult<Value = JsonObject> =
  | { readonly valid: true; readonly value: Value }
  | { readonly valid: false; readonly errors: readonly ValidationError[] };

/** Validates a value and returns the errors; none if the value is valid. */
export type CompiledSchema = (value: unknown) => readonly ValidationError[];

/**
 * Compiles a schema; throws if the schema is invalid. Default of an agent: {@linkcode ajvValidator}. Pass another one
 * for a runtime that forbids `eval`, or for another dialect of JSON Schema.
 */
export type SchemaValidator = (schema: JsonSchema) => CompiledSchema | Promise<CompiledSchema>;

/** The part of ajv's interface that is used here. */
interface Ajv {
  compile(schema: JsonSchema): AjvValidateFunction;
  removeSchema(schema: JsonSchema): unknown;
}
interface AjvValidateFunction {
  (value: unknown): unknown;
  errors?: readonly AjvError[] | null;
}
interface AjvError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

let ajv: Promise<Ajv> | undefined;

/**
 * Compiles a schema with ajv (draft 2020-12): reports all errors, ignores unknown keywords and does not check formats.
 */
export async function ajvValidator(schema: JsonSchema): Promise<CompiledSchema> {
  ajv ??= import("ajv/dist/2020.js").then(({ Ajv2020 }) => new Ajv2020(AJV_OPTIONS) as Ajv);
  const compiler = await ajv;
  const { $schema: _draft, ...rest } = schema;
  const check = compiler.compile(rest);
  compiler.removeSchema(rest);
  return (value) => (check(value) ? [] : (check.errors ?? []).map(toValidationError));
}

/** The shared instance stores no schemas, since two may have the same `$id` and their number is not bounded. */
const AJV_OPTIONS = {
  allErrors: true,
  strict: false,
  validateFormats: false,
  addUsedSchema: false,
  logger: false,
} as const;

const compiledSchemas = new WeakMap<SchemaValidator, WeakMap<JsonSchema, CompiledSchema>>();

/**
 * Compiles a schema and caches the result by schema object; a cached result is returned without a promise.
 *
 * @throws {BadRequestError} If the schema is invalid.
 */
export function compileSchema(
  schema: JsonSchema,
  validator: SchemaValidator = ajvValidator,
): CompiledSchema | Promise<CompiledSchema> {
  return compiledSchemas.get(validator)?.get(schema) ?? compileAndCache(schema, validator);
}

async function compileAndCache(
  schema: JsonSchema,
  validator: SchemaValidator,
): Promise<CompiledSchema> {
  try {
    const compiled = await validator(schema);
    const cache = compiledSchemas.get(validator) ?? new WeakMap<JsonSchema, CompiledSchema>();
    compiledSchemas.set(validator, cache.set(schema, compiled));
    return compiled;
  } catch (cause) {
    throw new BadRequestError(formatCompileError(cause), { cause });
  }
}

function formatCompileError(cause: unknown): string {
  return cause instanceof EvalError
    ? "Cannot compile the JSON Schema because this runtime forbids eval: pass a `validator` that does not use it"
    : `Invalid JSON Schema: ${getErrorMessage(cause)}`;
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
  validator?: SchemaValidator,
): Promise<ValidationResult> {
  if (!isJsonObject(args)) {
    return { valid: false, errors: [{ path: "", message: "must be object" }] };
  }
  const errors = (await compileSchema(schema, validator))(args);
  return errors.length === 0 ? { valid: true, value: args } : { valid: false, errors };
}

/**
 * Returns the JSON Schema of a schema source.
 *
 * @throws {BadRequestError} If a Standard Schema validator does not provide its JSON Schema.
 */
export function toJsonSchema(source: SchemaSource): JsonSchema {
  if (!isStandardSchema(source)) return source as JsonSchema;
  const { jsonSchema, vendor } = source["~standard"];
  if (!jsonSchema) {
    throw new BadRequestError(
      `The ${vendor} validator does not provide a JSON Schema: pass a JSON Schema, or use a version of ${vendor} that provides one`,
    );
  }
  return jsonSchema.input({ target: "draft-2020-12" });
}

/** Formats errors as one line each, for the model and the user. */
export function formatErrors(errors: readonly ValidationError[]): string {
  return errors.map(({ path, message }) => `- ${path || "(root)"}: ${message}`).join("\n");
}

function isStandardSchema(source: SchemaSource): source is StandardJsonSchemaSource {
  return "~standard" in source && isJsonObject(source["~standard"]);
}

function toValidationError(error: AjvError): ValidationError {
  const { instancePath, params, message = "is invalid" } = error;
  switch (error.keyword) {
    case "required":
      return {
        path: appendPointer(instancePath, params["missingProperty"]),
        message: "is required",
      };
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = params["additionalProperty"] ?? params["unevaluatedProperty"];
      return { path: appendPointer(instancePath, name), message: "is not a known property" };
    }
    case "false schema":
      return { path: instancePath, message: "is not allowed" };
    case "enum":
      return {
        path: instancePath,
        message: `must be one of ${formatValues(params["allowedValues"])}`,
      };
    case "const":
      return { path: instancePath, message: `must be ${JSON.stringify(params["allowedValue"])}` };
    default:
      return { path: instancePath, message };
  }
}

/** Appends a name to a JSON Pointer, with `~` and `/` escaped (RFC 6901). */
function appendPointer(path: string, name: unknown): string {
  return `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function formatValues(values: unknown): string {
  return Array.isArray(values)
    ? values.map((value) => JSON.stringify(value)).join(", ")
    : String(values);
}
