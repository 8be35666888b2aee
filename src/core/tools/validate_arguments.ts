/**
 * Validates the arguments of a tool call before it runs.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../errors/errors.ts";
import { isInstance } from "../errors/is_instance.ts";
import { ignoreRejections } from "../errors/refuse_promise.ts";
import { cloneJson, isJsonObject, type JsonObject, type JsonSchema } from "../json/json.ts";
import {
  compileSchema,
  expectErrors,
  findPlainCheck,
  runCompiled,
} from "../schemas/compile_schema.ts";
import {
  ajvValidator,
  type CompiledSchema,
  preloadAjv,
  type SchemaValidator,
  type ValidationResult,
} from "../schemas/schema.ts";
import type { AgentTool } from "./tool.ts";

/** Starts to load ajv if it validates the arguments of tools, and the schema of one of them needs it for valid ones. */
export function preloadValidator(tools: readonly AgentTool[], validator: SchemaValidator): void {
  if (validator !== ajvValidator) return;
  if (!tools.every(({ parameters }) => isPlain(parameters))) preloadAjv();
}

function isPlain(schema: JsonSchema): boolean {
  try {
    return findPlainCheck(schema) !== undefined;
  } catch {
    // The error is reported when arguments are validated.
    return true;
  }
}

/**
 * Prepares the validation of a call whose arguments the model is still writing. A failure is reported when they are
 * validated.
 */
export function prepareValidation(tool: AgentTool, validator: SchemaValidator): void {
  try {
    if (findPlainCheck(tool.parameters, validator)) return;
    const compiled = compileSchema(tool.parameters, validator, tool.validate);
    if (compiled instanceof Promise) compiled.catch(() => {});
  } catch {
    return;
  }
}

/**
 * Validates arguments against the JSON Schema of a tool, then with the tool's own `validate`. The value of a valid
 * result is what `execute` gets: the output of `validate`, which shares nothing with `args`, or `args` itself if the
 * tool has no `validate`.
 *
 * The result is a promise only if the validator or `validate` returns one.
 *
 * Throws a `BadRequestError`, or rejects with one, if the validator or `validate` fails or returns something else.
 */
export function validateArguments(
  tool: AgentTool,
  args: JsonObject,
  validator?: SchemaValidator,
): ValidationResult<unknown> | Promise<ValidationResult<unknown>> {
  if (findPlainCheck(tool.parameters, validator)?.(args)) return applyValidate(tool, args);
  const compiled = compileSchema(tool.parameters, validator, tool.validate);
  return compiled instanceof Promise
    ? compiled.then((schema) => validateWith(schema, tool, args))
    : validateWith(compiled, tool, args);
}

function validateWith(
  compiled: CompiledSchema,
  tool: AgentTool,
  args: JsonObject,
): ValidationResult<unknown> | Promise<ValidationResult<unknown>> {
  const errors = runCompiled(compiled, args);
  return errors.length > 0 ? { valid: false, errors } : applyValidate(tool, args);
}

/** Calls the tool's own `validate`, if it has one. */
function applyValidate(
  tool: AgentTool,
  args: JsonObject,
): ValidationResult<unknown> | Promise<ValidationResult<unknown>> {
  if (!tool.validate) return { valid: true, value: args };
  try {
    const result = tool.validate(cloneJson(args));
    return result instanceof Promise ? awaitResult(result) : expectResult(result);
  } catch (cause) {
    throw toValidateError(cause);
  }
}

async function awaitResult(
  pending: Promise<ValidationResult<unknown>>,
): Promise<ValidationResult<unknown>> {
  try {
    return expectResult(await pending);
  } catch (cause) {
    throw toValidateError(cause);
  }
}

/** Checks a result, since untyped code may return anything. */
function expectResult(result: unknown): ValidationResult<unknown> {
  if (isJsonObject(result) && result["valid"] === true) {
    return { valid: true, value: result["value"] };
  }
  if (isJsonObject(result) && result["valid"] === false) {
    return { valid: false, errors: expectErrors(result["errors"], "validate()") };
  }
  ignoreRejections(result);
  throw new BadRequestError(
    "validate() must return { valid: true, value } or { valid: false, errors }",
  );
}

function toValidateError(cause: unknown): BadRequestError {
  if (isInstance(cause, BadRequestError)) return cause;
  return new BadRequestError(`validate() failed: ${getErrorMessage(cause)}`, { cause });
}
