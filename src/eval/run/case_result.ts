/**
 * The results of runs.
 *
 * @module
 */

import type { Score } from "../evaluators/score.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";

/** The result of one run of a case. */
export interface CaseResult {
  /** Id of the case. */
  readonly caseId: string;
  /** Number of the repetition, from 1. */
  readonly repetition: number;
  /** The seed that the agent was created with, which repeats its randomness. */
  readonly seed: number;
  /** Name of the model, such as `anthropic/claude-sonnet-5-5`; `undefined` if there was no agent. */
  readonly model?: string | undefined;
  /**
   * `passed`: all scores passed. `failed`: a score did not pass, or the run failed. `skipped`: the evaluation was cancelled
   * before the run was finished.
   */
  readonly outcome: "passed" | "failed" | "skipped";
  /** The scores. */
  readonly scores: readonly Score[];
  /** The run; `undefined` if there was none. */
  readonly trajectory: Trajectory | undefined;
  /** Duration of the run in milliseconds. */
  readonly durationMs: number;
}

/** The results of a set. */
export interface EvalSetResult {
  /** Id of the set. */
  readonly setId: string;
  /** The results, in the order of the cases and of their repetitions. */
  readonly results: readonly CaseResult[];
  /** Number of runs, if some may have no result, as in an evaluation that was interrupted. Default: that of the results. */
  readonly planned?: number | undefined;
}
