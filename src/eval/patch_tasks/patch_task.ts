/**
 * Tasks whose result is a patch, as in SWE-bench.
 *
 * @module
 */

/** A task: an issue in a repository at a commit. */
export interface PatchTask {
  /** Identifier: letters, digits, `.`, `_` and `-`. */
  readonly instanceId: string;
  /** Absolute path of the directory with the Git repository. */
  readonly repository: string;
  /** The commit, tag or branch at which the task starts. */
  readonly baseCommit: string;
  /** The issue. */
  readonly problemStatement: string;
  /** Shell command that exits with 0 if the issue is resolved. */
  readonly testCommand: string;
  /** Patch with tests, which is applied after that of the agent. Default: none. */
  readonly testPatch?: string | undefined;
  /**
   * Files and directories of the commit that grade the patch, relative to the repository: changes of the agent do not
   * count, so that it cannot pass by changing the tests. Default: the files of `testPatch`.
   */
  readonly testFiles?: readonly string[] | undefined;
  /** Time limit of the command in milliseconds. Default: 30 minutes. */
  readonly testTimeoutMs?: number | undefined;
}

/** A prediction, as the harness of SWE-bench reads it. */
export interface PatchPrediction {
  /** Identifier of the task. */
  readonly instance_id: string;
  /** Name of the model or of the agent. */
  readonly model_name_or_path: string;
  /** The patch; empty if nothing changed. */
  readonly model_patch: string;
}

/** The start of each line that {@linkcode formatPrediction} returns. */
export const PREDICTION_START = '{"instance_id":';

/** Formats a prediction as a line of JSON. */
export function formatPrediction({ instance_id, ...others }: PatchPrediction): string {
  return `${JSON.stringify({ instance_id, ...others })}\n`;
}
