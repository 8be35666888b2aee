/**
 * JSON of and for clients.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject, toJsonValue } from "../../core/json/json.ts";
import { findParsedProblem } from "../../core/json/parsed_problem.ts";

/**
 * Parses the body of a request.
 *
 * @throws {BadRequestError} If it is not a JSON object.
 */
export function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRequestError("The body must be JSON");
  }
  if (!isJsonObject(value)) throw new BadRequestError("The body must be an object");
  return value;
}

/**
 * Returns a property that is a text; `path` is that of the object.
 *
 * @throws {BadRequestError} If it is none.
 */
export function readText(object: JsonObject, name: string, path = ""): string {
  const { [name]: value } = object;
  if (typeof value === "string") return value;
  throw new BadRequestError(`${path}${name} must be a string`);
}

/**
 * Returns the objects of an optional list.
 *
 * @throws {BadRequestError} If it is another value.
 */
export function readList(object: JsonObject, name: string): JsonObject[] {
  const { [name]: value } = object;
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((entry) => isJsonObject(entry))) return value;
  throw new BadRequestError(`${name} must be a list of objects`);
}

/**
 * Checks that every later stage may recurse into a value, and write it as JSON again.
 *
 * @throws {BadRequestError} If it is nested too deep, or a number in it is out of range.
 */
export function checkReadable(value: unknown, path: string): void {
  const problem = findParsedProblem(value);
  if (problem !== undefined) throw new BadRequestError(`${path} is ${problem}`);
}

/** Returns a copy that is JSON; `null` for a value that cannot be. */
export function toJson(value: unknown): unknown {
  const copy = toJsonValue(value);
  return "value" in copy ? copy.value : null;
}
