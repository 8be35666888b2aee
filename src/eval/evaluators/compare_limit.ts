/**
 * Comparisons of sums and means with their limits.
 *
 * @module
 */

/** Larger than the rounding errors of a sum of many values, smaller than any difference that matters. */
const TOLERANCE = 1e-9;

/** Whether a value reaches a lowest one, without regard to rounding errors: the mean of three times 0.7 is below 0.7. */
export function isAtLeast(value: number, lowest: number): boolean {
  return value >= lowest - TOLERANCE * Math.abs(lowest);
}

/** Whether a value keeps below a highest one, without regard to rounding errors: the sum of three times 0.1 is above 0.3. */
export function isAtMost(value: number, highest: number): boolean {
  return value <= highest + TOLERANCE * Math.abs(highest);
}
