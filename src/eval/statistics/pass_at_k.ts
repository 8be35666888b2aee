/**
 * The probability that at least one of several runs passes.
 *
 * @module
 */

import { checkCounts, checkPassed } from "./check_counts.ts";

/**
 * Returns the unbiased estimate of pass@k by Chen et al. (2021), `1 - C(n - c, k) / C(n, k)`, for `passed` (c) of `total`
 * (n) runs; `undefined` if there are fewer than `k` runs.
 *
 * @throws {BadRequestError} If a number is not a whole one from 0 to 10,000,000, or more runs passed than there are.
 */
export function calculatePassAtK(passed: number, total: number, k: number): number | undefined {
  checkPassed(passed, total);
  checkCounts({ k });
  if (k < 1 || total < k) return undefined;
  if (total - passed < k) return 1;
  let failure = 1;
  for (let index = total - passed + 1; index <= total; index++) failure *= 1 - k / index;
  return 1 - failure;
}
