/**
 * The result of a run so far.
 *
 * @module
 */

import type { AgentError } from "../core/errors.ts";
import type { StopReason } from "../core/model.ts";
import type { StoppedBy } from "../core/policy.ts";
import { addCost, addUsage, type Cost, type Usage, zeroCost, zeroUsage } from "../core/usage.ts";

/** The result of a run so far. Every stage returns a new value and changes none. */
export interface RunProgress {
  /** Number of turns that have started. */
  readonly turn: number;
  /** Tokens so far. */
  readonly usage: Usage;
  /** Cost so far. */
  readonly cost: Cost;
  /** Why the last reply ended. */
  readonly stopReason: StopReason;
  /** Whether the last model call ended in a context overflow; the next one then starts with a smaller context. */
  readonly overflowed: boolean;
  /** The error that ended the run. */
  readonly error?: AgentError;
  /** The policy that ended the run. */
  readonly stoppedBy?: StoppedBy;
}

/** Tokens and cost of one step. */
export interface Spending {
  /** Tokens of the step; none when left out. */
  readonly usage?: Usage;
  /** Cost of the step; none when left out. */
  readonly cost?: Cost;
}

/** Creates the progress of a run before its first turn. */
export function createProgress(overflowed: boolean): RunProgress {
  return { turn: 0, usage: zeroUsage(), cost: zeroCost(), stopReason: "stop", overflowed };
}

/** Adds the tokens and the cost of a step. */
export function addSpending(
  progress: RunProgress,
  { usage = zeroUsage(), cost = zeroCost() }: Spending,
): RunProgress {
  return {
    ...progress,
    usage: addUsage(progress.usage, usage),
    cost: addCost(progress.cost, cost),
  };
}
