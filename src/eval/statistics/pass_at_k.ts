/**
 * The probability that at least one of several runs passes.
 *
 * @module
 */

/**
 * Returns the unbiased estimate of pass@k by Chen et al. (2021), `1 - C(n - c, k) / C(n, k)`, for `passed` (c) of `total`
 * (n) runs; `undefined` if there are fewer than `k` runs.
 */
export function calculatePassAtK(passed: number, total: number, k: number): number | undefined {
  if (k < 1 || total < k) return undefined;
  if (total - passed < k) return 1;
  let failure = 1;
  for (let index = total - passed + 1; index <= total; index++) failure *= 1 - k / index;
  return 1 - failure;
}
