/**
 * Checks the functions of untyped callers.
 *
 * @module
 */

import { describeValue } from "../errors/describe_value.ts";
import { BadRequestError } from "../errors/errors.ts";

/**
 * Checks that an option is a function.
 *
 * @throws {BadRequestError} If it is not.
 */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value === "function") return;
  throw wrongType(`${name} must be a function`, value);
}

/** Creates the error for an option of another type; it does not repeat a string, which may be a key. */
export function wrongType(expectation: string, value: unknown): BadRequestError {
  const found = typeof value === "string" ? "a string" : describeValue(value);
  return new BadRequestError(`${expectation}, not ${found}`);
}
