/**
 * The scores of evaluators.
 *
 * @module
 */

/** The result of an evaluator for one run of a case. */
export interface Score {
  /** Name of the metric. */
  readonly metric: string;
  /** From 0 to 1. */
  readonly value: number;
  /** Whether the expectation is met. */
  readonly passed: boolean;
  /** The reason, for reports. Default: none. */
  readonly reason?: string | undefined;
  /** The number that a judge returned, if it was out of range and `value` is the nearest number in range. */
  readonly rawValue?: number | undefined;
  /** Weight of the value in the mean of a run. Default: 1. */
  readonly weight?: number | undefined;
  /** Cost of the evaluation, such as that of a judge, in US dollars; `null` if it is unknown. Default: 0. */
  readonly cost?: number | null | undefined;
}

/** Creates a score of 1 or 0. */
export function createBinaryScore(metric: string, passed: boolean, reason?: string): Score {
  return { metric, value: passed ? 1 : 0, passed, ...(reason !== undefined && { reason }) };
}

/** Returns the mean of the values by their weights; `undefined` without scores. */
export function calculateMeanScore(
  scores: readonly Pick<Score, "value" | "weight">[],
): number | undefined {
  const total = scores.reduce((sum, { weight = 1 }) => sum + weight, 0);
  if (total === 0) return undefined;
  return scores.reduce((sum, { value, weight = 1 }) => sum + value * weight, 0) / total;
}
