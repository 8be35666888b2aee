/**
 * Checks the numbers of untyped callers.
 *
 * @module
 */

import { createValueError } from "./check_object.ts";

/**
 * Checks that an option is a number of at least 0; one that is `undefined` counts as missing. `NaN`, as from a missing
 * environment variable, would otherwise remove a limit.
 *
 * @throws {BadRequestError} If it is not.
 */
export function checkNumber(name: string, value: unknown): void {
  if (value === undefined || (typeof value === "number" && value >= 0)) return;
  throw createValueError(`${name} must be a number of at least 0`, value);
}
