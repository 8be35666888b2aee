/**
 * Significance of the difference between paired runs.
 *
 * @module
 */

import { checkCounts } from "./check_counts.ts";

/**
 * Returns the two-sided p-value of the exact test of McNemar for paired runs: the numbers of pairs of which only the
 * first, and only the second, passed. 1 without such pairs.
 *
 * @throws {BadRequestError} If a number is not a whole one from 0 to 10,000,000.
 */
export function calculateMcNemar(onlyFirst: number, onlySecond: number): number {
  checkCounts({ onlyFirst, onlySecond });
  const total = onlyFirst + onlySecond;
  let coefficient = -total * Math.LN2;
  let tail = 0;
  for (let index = 0; index <= Math.min(onlyFirst, onlySecond); index++) {
    tail += Math.exp(coefficient);
    coefficient += Math.log(total - index) - Math.log(index + 1);
  }
  return Math.min(1, 2 * tail);
}
