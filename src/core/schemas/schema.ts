/**
 * Validation against JSON Schemas (draft 2020-12, and older drafts back to draft 4): the contract of validators, and the
 * default one.
 *
 * The default validator is ajv, which takes 40 ms to load; a run loads it while it waits for the model. It compiles with
 * `new Function`; a runtime that forbids `eval` needs another {@linkcode SchemaValidator}, unless the schemas are those
 * of libraries, which check the values themselves.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";
import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  MAX_JSON_DEPTH,
} from "../json/json.ts";
import type { AjvSchema } from "../json_schema/ajv_validator.ts";
import type { IgnoredKeyword } from "../json_schema/ignored_keyword.ts";
import { type NormalizedSchema, normalizeSchema } from "../json_schema/normalize_schema.ts";
import type { ValidationError } from "../json_schema/validation_error.ts";

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
  const compiled = loadedAjv
    ? loadedAjv.compileWithAjv(normalized)
    : loadAjv().then(({ compileWithAjv }) => compileWithAjv(normalized));
  return compiled instanceof Promise
    ? compiled.then((schema) => toCompiledSchema(schema, normalized))
    : toCompiledSchema(compiled, normalized);
}

type AjvModule = typeof import("../json_schema/ajv_validator.ts");
let loadedAjv: AjvModule | undefined;

async function loadAjv(): Promise<AjvModule> {
  return loadedAjv = await import("../json_schema/ajv_validator.ts");
}

/** Starts to load ajv; a failure is reported by the first compilation. */
export function preloadAjv(): void {
  loadAjv().catch(() => {});
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
  if (!isJsonObject(schema)) {
    throw new BadRequestError("A JSON Schema must be an object");
  }
  const known = normalizedSchemas.get(schema);
  if (known) return known;
  if (isDeeperThan(schema, MAX_JSON_DEPTH)) {
    throw new BadRequestError(`The JSON Schema is nested more than ${MAX_JSON_DEPTH} levels deep`);
  }
  const normalized = normalizeSchema(schema);
  normalizedSchemas.set(schema, normalized);
  return normalized;
}

/** Formats ignored keywords on one line. */
export function formatIgnored(ignored: readonly IgnoredKeyword[]): string {
  return ignored.map(({ path, message }) => `${path || "(root)"} ${message}`).join("; ");
}
