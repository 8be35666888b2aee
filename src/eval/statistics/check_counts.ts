/**
 * Checks of numbers of runs.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError } from "../../core/errors/errors.ts";

/** More runs than any evaluation has; formulas that add a term for each of them would take very long. */
const MAX_COUNT = 10_000_000;

/**
 * Checks numbers of runs by their names; formulas would return a probability for others, too.
 *
 * @throws {BadRequestError} If one is not a whole number from 0 to 10,000,000.
 */
export function checkCounts(counts: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(counts)) {
    if (Number.isInteger(value) && value >= 0 && value <= MAX_COUNT) continue;
    throw new BadRequestError(
      `${name} must be a whole number from 0 to ${MAX_COUNT}, not ${describeValue(value)}`,
    );
  }
}

/**
 * Checks the number of runs that passed and that of all.
 *
 * @throws {BadRequestError} If one is not a whole number from 0 to 10,000,000, or more runs passed than there are.
 */
export function checkPassed(passed: number, total: number): void {
  checkCounts({ passed, total });
  if (passed > total) {
    throw new BadRequestError(`passed must be at most total, ${total}, not ${passed}`);
  }
}
