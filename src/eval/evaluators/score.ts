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
}

/** Creates a score of 1 or 0. */
export function createBinaryScore(metric: string, passed: boolean, reason?: string): Score {
  return { metric, value: passed ? 1 : 0, passed, ...(reason !== undefined && { reason }) };
}
