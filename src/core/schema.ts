/**
 * JSON Schema validation (draft 2020-12).
 *
 * ajv takes 40 ms to load and compiles with `new Function`, so it is loaded when the first schema is
 * compiled, and a runtime that forbids `eval` gets by with an injected {@linkcode SchemaValidator}.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "./errors.ts";
import type { SchemaSource, StandardJsonSchemaSource } from "./infer.ts";
import { isJsonObject, type JsonObject, type JsonSchema } from "./json.ts";

/** One way in which a value breaks its schema. */
export interface ValidationError {
  /** Where, as a JSON pointer; empty for the value itself. */
  readonly path: string;
  /** What was expected there. */
  readonly message: string;
}

/** Whether a value keeps its schema. */
export type ValidationResult<Value = JsonObject> =
  | { readonly valid: true; readonly value: Value }
  | { readonly valid: false; readonly errors: readonly ValidationError[] };

/** Checks values against one schema; gives no errors for a valid one. */
export type CompiledSchema = (value: unknown) => readonly ValidationError[];

/**
 * Compiles schemas: the port through which the agent validates. The default is ajv; inject another where
 * `eval` is forbidden, or where another dialect is wanted.
 */
export type SchemaValidator = (schema: JsonSchema) => CompiledSchema | Promise<CompiledSchema>;

/** What the agent uses of ajv. */
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

/** The default validator: ajv, 2020-12, all errors told, unknown keywords and formats ignored. */
export async function ajvValidator(schema: JsonSchema): Promise<CompiledSchema> {
  ajv ??= import("ajv/dist/2020.js").then(({ Ajv2020 }) => new Ajv2020(AJV_OPTIONS) as Ajv);
  const compiler = await ajv;
  const { $schema: _draft, ...rest } = schema;
  const check = compiler.compile(rest);
  compiler.removeSchema(rest);
  return (value) => (check(value) ? [] : (check.errors ?? []).map(toValidationError));
}

/** One ajv serves all schemas, so it keeps none: two may have the same `$id`, and many may come and go. */
const AJV_OPTIONS = {
  allErrors: true,
  strict: false,
  validateFormats: false,
  addUsedSchema: false,
  logger: false,
} as const;

const compiledSchemas = new WeakMap<SchemaValidator, WeakMap<JsonSchema, CompiledSchema>>();

/**
 * Compiles a schema once; asked again with the same schema object, it answers at once without a promise.
 *
 * @throws {BadRequestError} When the schema itself is not valid.
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
    const kept = compiledSchemas.get(validator) ?? new WeakMap<JsonSchema, CompiledSchema>();
    compiledSchemas.set(validator, kept.set(schema, compiled));
    return compiled;
  } catch (cause) {
    throw new BadRequestError(formatCompileError(cause), { cause });
  }
}

function formatCompileError(cause: unknown): string {
  if (!(cause instanceof EvalError)) {
    return `The JSON Schema is not valid: ${getErrorMessage(cause)}`;
  }
  return "This runtime forbids eval, which the default validator needs: pass a `validator`";
}

/**
 * Checks arguments against a tool's schema.
 *
 * @throws {BadRequestError} When the schema itself is not valid.
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
 * The JSON Schema that a schema source stands for.
 *
 * @throws {BadRequestError} When a validator cannot tell its JSON Schema.
 */
export function toJsonSchema(source: SchemaSource): JsonSchema {
  if (!isStandardSchema(source)) return source as JsonSchema;
  const { jsonSchema, vendor } = source["~standard"];
  if (!jsonSchema) {
    throw new BadRequestError(
      `The ${vendor} validator has no JSON Schema form: pass a JSON Schema, or a version of ${vendor} that has one`,
    );
  }
  return jsonSchema.input({ target: "draft-2020-12" });
}

/** One line per error, for a model or a person to act on. */
export function formatErrors(errors: readonly ValidationError[]): string {
  return errors.map(({ path, message }) => `- ${path || "(the whole value)"}: ${message}`).join(
    "\n",
  );
}

function isStandardSchema(source: SchemaSource): source is StandardJsonSchemaSource {
  return "~standard" in source && isJsonObject(source["~standard"]);
}

function toValidationError(fault: AjvError): ValidationError {
  const { instancePath, params, message = "is not valid" } = fault;
  switch (fault.keyword) {
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

/** A JSON pointer one step further; `~` and `/` within a name are escaped (RFC 6901). */
function appendPointer(path: string, name: unknown): string {
  return `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function formatValues(values: unknown): string {
  return Array.isArray(values)
    ? values.map((value) => JSON.stringify(value)).join(", ")
    : String(values);
}
