/**
 * Options of evaluators.
 *
 * @module
 */

import { describeValue } from "../../core/describe_value.ts";
import { BadRequestError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";

/**
 * Reads an option that is a number of at least 0; `undefined` if it is missing.
 *
 * @throws {BadRequestError} If it is another value.
 */
export function readNumber(options: JsonObject, name: string): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
  throw new BadRequestError(
    `The option "${name}" must be a number of at least 0, not ${describeValue(value)}`,
  );
}
