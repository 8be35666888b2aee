/**
 * Checks of the times that steps wait for.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";

/** Checks a time, which is negative if its end has passed. `NaN`, as from an invalid date, would end a wait at once. */
export function checkDuration(name: string, milliseconds: unknown): void {
  if (typeof milliseconds === "number" && !Number.isNaN(milliseconds)) return;
  throw new BadRequestError(
    `${name} must be a number of milliseconds, not ${describeValue(milliseconds)}`,
  );
}
