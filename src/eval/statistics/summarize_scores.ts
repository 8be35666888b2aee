/**
 * Summaries of the repetitions of a case.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { calculatePassAtK } from "./pass_at_k.ts";
import { calculateWilsonInterval, type Interval } from "./wilson_interval.ts";

/** A score of one repetition, for the summary. */
export interface RepetitionScore {
  /** From 0 to 1. */
  readonly value: number;
  /** Whether the expectation is met. */
  readonly passed: boolean;
}

/** Summary of the repetitions of a metric. */
export interface ScoreSummary {
  /** Number of repetitions. */
  readonly count: number;
  /** Number of repetitions that passed. */
  readonly passed: number;
  /** Mean of the values. */
  readonly mean: number;
  /** Unbiased variance of the values; 0 for one repetition. */
  readonly variance: number;
  /** Whether all repetitions passed. */
  readonly all: boolean;
  /** Whether any repetition passed. */
  readonly any: boolean;
  /** Probability that at least one of k runs passes, by k from 1 to the number of repetitions. */
  readonly passAtK: readonly number[];
  /** Confidence interval of the pass rate: 95 %, by Wilson. */
  readonly interval: Interval;
}

/**
 * Summarizes the repetitions of a metric.
 *
 * @throws {BadRequestError} If there are none.
 *
 * @example
 * ```ts
 * import { summarizeScores } from "@swink/agent/eval";
 *
 * const summary = summarizeScores([{ value: 1, passed: true }, { value: 0, passed: false }]);
 * summary.mean; // 0.5
 * summary.passAtK; // [0.5, 1]
 * ```
 */
export function summarizeScores(scores: readonly RepetitionScore[]): ScoreSummary {
  const count = scores.length;
  if (count === 0) throw new BadRequestError("Pass the score of at least one repetition");
  const passed = scores.filter((score) => score.passed).length;
  const mean = scores.reduce((sum, { value }) => sum + value, 0) / count;
  const squares = scores.reduce((sum, { value }) => sum + (value - mean) ** 2, 0);
  return {
    count,
    passed,
    mean,
    variance: count > 1 ? squares / (count - 1) : 0,
    all: passed === count,
    any: passed > 0,
    passAtK: scores.map((_, index) => calculatePassAtK(passed, count, index + 1) ?? 0),
    interval: calculateWilsonInterval(passed, count),
  };
}
