/**
 * The network access of a run: direct, recorded, or answered from a recording.
 *
 * @module
 */

import { join } from "../../platform/paths.ts";
import type { EvalFiles } from "../case/eval_files.ts";
import type { RecordedRun } from "./run_index.ts";

/** The network access of one run. */
export interface RunConnection {
  /** Sends the requests of the agent. */
  readonly fetch: typeof globalThis.fetch;
  /** Sends the requests of evaluators. */
  readonly evaluatorFetch: typeof globalThis.fetch;
  /** The seed of the run. */
  readonly seed: number;
  /** Start of the run, or of the recorded run, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Directory of the recorded run, which the run should have, too; `undefined` without a replay. */
  readonly directory: string | undefined;
  /** Whether requests are recorded or replayed, so that answers must not come from a cache. */
  readonly isRecorded: boolean;
  /**
   * Ends a run that was scored.
   *
   * @throws {Error} If the recording cannot be written, or recorded requests were not repeated although the run did not
   * fail.
   */
  finish(run: FinishedRun): Promise<void>;
}

/** A run that was scored. */
export interface FinishedRun extends Pick<RecordedRun, "model" | "directory"> {
  /** Whether it ended with an answer, failed, failed before the first reply of the model, or was cancelled. */
  readonly end: "answered" | "failed" | "unanswered" | "cancelled";
}

/** The part of a recorded run that identifies it. */
export type RunIdentity = Pick<RecordedRun, "caseId" | "repetition" | "seed">;

/** The run for which a connection is opened. */
export interface ConnectionRequest extends RunIdentity {
  /** The messages of the user. */
  readonly prompts: readonly string[];
}

/** Opens the connections of runs. */
export type OpenRunConnection = (request: ConnectionRequest) => RunConnection;

/** The connections of an evaluation. Disposing of them ends its recording. */
export interface RunConnections extends Disposable {
  /** Opens the connection of a run. */
  readonly open: OpenRunConnection;
}

/** Options for `createConnections()`. */
export interface ConnectionOptions {
  /** Directory to record in. */
  readonly record?: string | undefined;
  /** Directory of the recording that answers requests. */
  readonly replay?: string | undefined;
  /** Port: sends requests. */
  readonly fetch: typeof globalThis.fetch;
  /** Replaces further parts of texts that differ in each run. */
  readonly normalize?: ((text: string) => string) | undefined;
  /** The seeds of the repetitions, by which a replay finds the recorded runs; their numbers can differ. */
  readonly seeds?: readonly number[] | undefined;
  /** Port: the current time in milliseconds. */
  readonly now: () => number;
  /** Port: reads and writes files. */
  readonly files: EvalFiles;
}

/** Returns the path of the requests of a run. Ids of cases are names of files. */
export function getCassettePath(
  directory: string,
  { caseId, repetition }: Pick<ConnectionRequest, "caseId" | "repetition">,
): string {
  return join(directory, `${caseId}.${repetition}.jsonl`);
}
