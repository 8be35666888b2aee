/**
 * Confidence intervals of pass rates.
 *
 * @module
 */

import { checkPassed } from "./check_counts.ts";

/** A range of values. */
export interface Interval {
  /** Lower bound. */
  readonly low: number;
  /** Upper bound. */
  readonly high: number;
}

/** Quantile of the normal distribution for a two-sided confidence of 95 %. */
const Z_95 = 1.959963984540054;

/**
 * Returns the score interval of Wilson (1927) for the rate of `passed` in `total` runs, without continuity correction;
 * from 0 to 1 without runs. Default of `z`: a confidence of 95 %.
 *
 * @throws {BadRequestError} If a number is not a whole one from 0 to 10,000,000, or more runs passed than there are.
 */
export function calculateWilsonInterval(passed: number, total: number, z = Z_95): Interval {
  checkPassed(passed, total);
  if (total === 0) return { low: 0, high: 1 };
  const rate = passed / total;
  const scale = 1 + z ** 2 / total;
  const center = (rate + z ** 2 / (2 * total)) / scale;
  const margin = z / scale * Math.sqrt(rate * (1 - rate) / total + z ** 2 / (4 * total ** 2));
  return {
    low: passed === 0 ? 0 : Math.max(0, center - margin),
    high: passed === total ? 1 : Math.min(1, center + margin),
  };
}
