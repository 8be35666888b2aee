/**
 * Results without the parts of their trajectories whose size depends on the run.
 *
 * @module
 */

import type { CaseResult } from "./case_result.ts";

/** Removes the calls, the replies and the answer of a result, which many results would fill the memory with. */
export function omitCalls(result: CaseResult): CaseResult {
  const { trajectory } = result;
  return trajectory
    ? { ...result, trajectory: { ...trajectory, calls: [], replies: [], response: "" } }
    : result;
}
