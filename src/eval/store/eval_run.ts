/**
 * Evaluations that are kept on disk.
 *
 * @module
 */

import type { EvalSet } from "../case/eval_case.ts";
import type { EvalSetResult } from "../run/case_result.ts";

/** The start of an evaluation: the content of `run.json`, and the name of its directory. */
export interface EvalRunHeader {
  /** Version of the format. */
  readonly version: 1;
  /** Id: the name of its directory. */
  readonly id: string;
  /** Name of the model, if one was selected for all cases. */
  readonly model?: string | undefined;
  /** Seed of the evaluation. */
  readonly seed: number;
  /** Seeds of the repetitions, if they were given. */
  readonly seeds?: readonly number[] | undefined;
  /** Start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The set as it was run; a custom check of answers has no function. */
  readonly set: EvalSet;
  /** SHA-256 hashes of the fixtures by their names in the set, in hexadecimal. Default: unknown. */
  readonly fixtures?: Readonly<Record<string, string>> | undefined;
}

/** An evaluation that was read from disk. */
export interface EvalRun extends EvalRunHeader, EvalSetResult {
  /** End, in milliseconds since the epoch; `undefined` unless it is complete. */
  readonly finishedAt: number | undefined;
  /** Number of runs of the evaluation, of which `results` has those that are finished. */
  readonly planned: number;
  /** The parts that could not be read, as sentences without a period; their runs are missing in `results`. */
  readonly damage: readonly string[];
}
