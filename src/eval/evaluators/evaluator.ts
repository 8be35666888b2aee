/**
 * Evaluators, which score the run of a case.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";
import type { EvalCase } from "../case/eval_case.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { Score } from "./score.ts";

/** The run of a case, for evaluators. */
export interface EvalContext {
  /** The case. */
  readonly evalCase: EvalCase;
  /** The run. */
  readonly trajectory: Trajectory;
  /** Duration of the run in milliseconds. */
  readonly durationMs: number;
  /** Directory in which the agent worked, `undefined` if it had none. */
  readonly directory: string | undefined;
  /** Options of the case for this evaluator. */
  readonly options: JsonObject;
  /** Sends requests; they are recorded or replayed with those of the run. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Whether requests are recorded or replayed, so that none may be omitted. Default: `false`. */
  readonly isRecorded?: boolean | undefined;
  /** Aborted when the evaluation is cancelled. */
  readonly signal: AbortSignal;
}

/** Scores the run of a case. */
export interface Evaluator {
  /** Name by which cases select it, and of its metric. */
  readonly name: string;
  /** Whether the runs of cases that name it have a directory, also if their agents use none. Default: `false`. */
  readonly needsDirectory?: boolean | undefined;
  /** Names of its options; a case with another one is an error, which fails the metric. Default: any names. */
  readonly optionNames?: readonly string[] | undefined;
  /**
   * Checks the values of its options for `EvaluatorRegistry.checkCase()`, before the case is run; throws if one is invalid.
   * Default: `evaluate()` finds invalid values.
   */
  checkOptions?(options: JsonObject): void;
  /**
   * Time after which the metric fails, in milliseconds; `Infinity` for an evaluator with limits of its own. Default:
   * 600,000, 10 minutes.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Scores a run. Returns `undefined` if the evaluator does not apply to the case, such as a comparison without an
   * expectation. An error fails the metric.
   */
  evaluate(context: EvalContext): Score | undefined | Promise<Score | undefined>;
}
