/**
 * Compares the tool calls of a run with the expected ones.
 *
 * @module
 */

import { matchTrajectory } from "../trajectory/match_trajectory.ts";
import type { Evaluator } from "./evaluator.ts";

/** Creates the evaluator `trajectory`, which applies to cases with an `expectedTrajectory`. */
export function createTrajectoryEvaluator(): Evaluator {
  const name = "trajectory";
  return {
    name,
    optionNames: [],
    evaluate: async ({ evalCase: { expectedTrajectory }, trajectory }) => {
      if (!expectedTrajectory) return undefined;
      const result = await matchTrajectory(trajectory.calls, expectedTrajectory);
      const { found, expected, actual, passed, score } = result;
      const reason = `${found} of ${expected} expected calls found in ${actual} calls ` +
        `(${expectedTrajectory.match})`;
      return { metric: name, value: score, passed, reason };
    },
  };
}
