/**
 * Compares the tool calls of a run with the expected ones.
 *
 * @module
 */

import type { ExpectedCall } from "../case/eval_case.ts";
import { matchTrajectory } from "../trajectory/match_trajectory.ts";
import type { Evaluator } from "./evaluator.ts";
import { quoteStart } from "./quote_start.ts";

/** Creates the evaluator `trajectory`, which applies to cases with an `expectedTrajectory`. */
export function createTrajectoryEvaluator(): Evaluator {
  const name = "trajectory";
  return {
    name,
    optionNames: [],
    evaluate: async ({ evalCase: { expectedTrajectory }, trajectory }) => {
      if (!expectedTrajectory) return undefined;
      const result = await matchTrajectory(trajectory.calls, expectedTrajectory);
      const { found, expected, actual, passed, score, unmatched } = result;
      const reason = `${found} of ${expected} expected calls found in ${actual} calls ` +
        `(${expectedTrajectory.match})${describeUnmatched(unmatched)}`;
      return { metric: name, value: score, passed, reason };
    },
  };
}

/** Number of expected calls in a reason. */
const MAX_CALLS = 3;

function describeUnmatched(calls: readonly ExpectedCall[]): string {
  if (calls.length === 0) return "";
  const shown = calls.slice(0, MAX_CALLS).map(({ tool, arguments: args, matchers }) =>
    args || matchers ? `${tool} ${quoteStart({ ...args, ...matchers })}` : tool
  );
  const rest = calls.length - shown.length;
  return `; no call matches ${[...shown, ...rest > 0 ? [`${rest} more`] : []].join(", ")}`;
}
