/**
 * Quantiles of a list of numbers.
 *
 * @module
 */

/** Quantiles by nearest rank; all 0 for an empty list. */
export interface Quantiles {
  median: number;
  p90: number;
  p99: number;
  max: number;
}

/** Computes the quantiles of a list in any order. */
export function computeQuantiles(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { median: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}
