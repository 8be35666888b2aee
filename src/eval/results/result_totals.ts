/**
 * Totals over the results of an evaluation.
 *
 * @module
 */

import { calculateMeanScore } from "../evaluators/score.ts";
import type { CaseResult } from "../run/case_result.ts";

/** The metric of the run itself. */
const RUN_METRIC = "run";

/** Whether a run ended with an error: its other metrics measure nothing then. */
export function hasError({ scores }: Pick<CaseResult, "scores">): boolean {
  return scores.some(({ metric, passed }) => metric === RUN_METRIC && !passed);
}

/**
 * Returns the mean of the scores of runs by their weights; `undefined` without scores. Those of a run that ended with an
 * error count as 0: limits are met before it, and files are as they were.
 */
export function calculateScore(
  results: readonly Pick<CaseResult, "scores">[],
): number | undefined {
  return calculateMeanScore(
    results.flatMap((result) =>
      hasError(result) ? result.scores.map((score) => ({ ...score, value: 0 })) : result.scores
    ),
  );
}

/** Returns the cost of runs and of their judges in US dollars; `null` if any part of it is unknown. */
export function calculateCost(results: readonly CaseResult[]): number | null {
  let sum = 0;
  for (const { trajectory, scores } of results) {
    for (
      const cost of [
        trajectory ? trajectory.cost.total : 0,
        ...scores.map(({ cost = 0 }) => cost),
      ]
    ) {
      if (cost === null) return null;
      sum += cost;
    }
  }
  return sum;
}
