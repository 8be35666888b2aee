/**
 * Checks the objects of untyped callers.
 *
 * @module
 */

import { describeValue } from "../errors/describe_value.ts";
import { BadRequestError } from "../errors/errors.ts";
import { isJsonObject } from "../json/json.ts";

/**
 * Checks that a value is an object; `expectation` states what to pass, such as `Pass the limits as an object`.
 *
 * @throws {BadRequestError} If it is none.
 */
export function checkObject(value: unknown, expectation: string): void {
  if (isJsonObject(value)) return;
  throw createValueError(expectation, value);
}

/** Creates the error for a value that is not as expected. */
export function createValueError(expectation: string, value: unknown): BadRequestError {
  return new BadRequestError(`${expectation}, not ${describeValue(value)}`);
}
