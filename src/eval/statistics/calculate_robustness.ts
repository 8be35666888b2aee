/**
 * The robustness of an agent: how many seeds of faults it passes.
 *
 * @module
 */

import type { CaseResult, EvalSetResult } from "../run/case_result.ts";
import { calculateWilsonInterval, type Interval } from "./wilson_interval.ts";

/** The robustness of an agent for a case. */
export interface CaseRobustness {
  /** Id of the case. */
  readonly caseId: string;
  /** Number of runs that passed. */
  readonly passed: number;
  /** Number of runs. */
  readonly total: number;
  /** Part of the runs that passed, from 0 to 1. */
  readonly score: number;
  /** Confidence interval of the score: 95 %, by Wilson. */
  readonly interval: Interval;
  /** Seeds of the runs that failed; with `seeds`, `runEvalSet()` repeats them. */
  readonly failedSeeds: readonly number[];
}

/**
 * Calculates how many of the runs of each case passed, each with the faults of its seed. Skipped runs are ignored.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { calculateRobustness, runEvalSet } from "@swink/agent/eval";
 * import { chaos, reply, scriptedStream } from "@swink/agent/testing";
 *
 * const set = {
 *   id: "greetings",
 *   cases: [{
 *     id: "hello",
 *     userMessages: ["Greet me"],
 *     expectedResponse: { type: "contains", text: "Hello" },
 *   }],
 * } as const;
 * const seeds = Array.from({ length: 20 }, (_, index) => index + 1);
 * const result = await runEvalSet(set, ({ seed }) => {
 *   const faults = chaos({ seed });
 *   const streamFn = faults.wrapStreamFn(scriptedStream([reply("Hello!")]));
 *   return new Agent({ model: "test/model", streamFn, retry: ({ attempt }) => attempt < 5 ? 0 : null });
 * }, { seeds });
 * calculateRobustness(result)[0]?.score; // 1
 * ```
 */
export function calculateRobustness({ results }: EvalSetResult): CaseRobustness[] {
  const groups = new Map<string, CaseResult[]>();
  for (const result of results) {
    if (result.outcome === "skipped") continue;
    const group = groups.get(result.caseId);
    if (group) group.push(result);
    else groups.set(result.caseId, [result]);
  }
  return Array.from(groups, ([caseId, runs]) => {
    const failed = runs.filter(({ outcome }) => outcome === "failed");
    const total = runs.length;
    const passed = total - failed.length;
    return {
      caseId,
      passed,
      total,
      score: passed / total,
      interval: calculateWilsonInterval(passed, total),
      failedSeeds: failed.map(({ seed }) => seed),
    };
  });
}
