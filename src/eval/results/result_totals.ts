/**
 * Totals over the results of an evaluation.
 *
 * @module
 */

import type { CaseResult } from "../run/case_result.ts";

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
