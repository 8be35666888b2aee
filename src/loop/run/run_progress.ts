/**
 * The progress of a run.
 *
 * @module
 */

import type { PendingBatch } from "../../core/approval/approval.ts";
import type { AgentError } from "../../core/errors/errors.ts";
import type { StoppedBy } from "../../core/events/stopped_by.ts";
import type { StopReason } from "../../core/models/model.ts";
import {
  addCost,
  addUsage,
  type Cost,
  type LateSpending,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../../core/models/usage.ts";

/** The result of a run so far; immutable: every stage returns a new value. */
export interface RunProgress {
  /** Number of turns that have started. */
  readonly turn: number;
  /** Token counts so far. */
  readonly usage: Usage;
  /** Cost so far. */
  readonly cost: Cost;
  /** Spending of agents after the end of the tool calls that run them, one entry for each call. Default: none. */
  readonly lateSpending?: readonly LateSpending[];
  /** The reason why the last reply ended; `"aborted"` if the run was aborted before it was complete. */
  readonly stopReason: StopReason;
  /** Whether the last model call ended in a context overflow; the next one then starts with a smaller context. */
  readonly overflowed: boolean;
  /** The error that ended the run, if one did. */
  readonly error?: AgentError;
  /** The policy that stopped the run, if one did. */
  readonly stoppedBy?: StoppedBy;
  /** The tool calls that wait for decisions, if they ended the run. */
  readonly pending?: PendingBatch;
}

/** Token counts and cost of one step. */
export interface StepSpending {
  /** Token counts of the step. Default: 0. */
  readonly usage?: Usage | undefined;
  /** Cost of the step. Default: 0. */
  readonly cost?: Cost | undefined;
}

/** Creates the progress of a run before its first turn. */
export function createProgress(overflowed: boolean): RunProgress {
  return { turn: 0, usage: zeroUsage(), cost: zeroCost(), stopReason: "stop", overflowed };
}

/** Returns the late spending of a run, if there is any. */
export function pickLateSpending(
  { lateSpending }: RunProgress,
): Pick<RunProgress, "lateSpending"> {
  return lateSpending ? { lateSpending } : {};
}

/** Adds the token counts and the cost of a step. */
export function addSpending<Totals extends Pick<RunProgress, "usage" | "cost">>(
  totals: Totals,
  { usage = zeroUsage(), cost = zeroCost() }: StepSpending,
): Totals {
  return { ...totals, usage: addUsage(totals.usage, usage), cost: addCost(totals.cost, cost) };
}
