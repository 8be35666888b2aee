/**
 * Options of evaluators.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { MAX_TIMER_MS } from "../../core/ports/ports.ts";

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

/**
 * Reads the option `threshold`, from 0 to 1; `undefined` if it is missing.
 *
 * @throws {BadRequestError} If it is another value: a score in percent would never reach it.
 */
export function readThreshold(options: JsonObject): number | undefined {
  const threshold = readNumber(options, "threshold");
  if (threshold === undefined || threshold <= 1) return threshold;
  throw new BadRequestError(`The option "threshold" must be from 0 to 1, not ${threshold}`);
}

/**
 * Reads an option that is a time in milliseconds; `undefined` if it is missing. A timer cannot have a longer time than
 * the returned one.
 *
 * @throws {BadRequestError} If it is not a number above 0.
 */
export function readTime(options: JsonObject, name: string): number | undefined {
  const time = readNumber(options, name);
  if (time === 0) throw new BadRequestError(`The option "${name}" must be above 0`);
  return time === undefined ? undefined : Math.min(time, MAX_TIMER_MS);
}
