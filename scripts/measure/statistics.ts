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
  const getQuantile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return {
    median: getQuantile(0.5),
    p90: getQuantile(0.9),
    p99: getQuantile(0.99),
    max: getQuantile(1),
  };
}
