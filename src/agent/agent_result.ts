/**
 * The result of a run.
 *
 * @module
 */

import { AbortedError, type AgentError, BudgetExceededError } from "../core/errors/errors.ts";
import type { RunOutcome } from "../core/events/event.ts";

/** The result of a run. */
export interface AgentResult extends RunOutcome {
  /** Id of the run. */
  readonly runId: string;
  /** Number of turns. */
  readonly turns: number;
  /** Text of the last reply; empty if the run has none. */
  readonly text: string;
}

/** Returns the error of a run that failed, or whose last reply was cut off by an abort or a policy. */
export function findFailure(
  { error, stopReason, stoppedBy, abortReason }: RunOutcome,
): AgentError | undefined {
  if (error) return error;
  if (stopReason !== "aborted") return undefined;
  return stoppedBy
    ? new BudgetExceededError(stoppedBy.reason)
    : new AbortedError(undefined, { cause: abortReason });
}
