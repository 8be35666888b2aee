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
  throw new BadRequestError(`${expectation}, not ${describeValue(value)}`);
}
