/**
 * Scores the number of repeated calls and of turns.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";
import { toCanonicalText } from "../../core/json_schema/canonical_text.ts";
import type { Trajectory, TrajectoryCall } from "../trajectory/trajectory.ts";
import { isAtLeast } from "./compare_limit.ts";
import type { Evaluator } from "./evaluator.ts";
import { readNumber, readThreshold } from "./read_number.ts";

/** A score from this value on passes. */
const DEFAULT_THRESHOLD = 0.5;

/** The parts of the efficiency of a run. */
export interface Efficiency {
  /** Part of the calls that repeat an earlier one with equal arguments. */
  readonly duplicateRatio: number;
  /** Ideal number of turns divided by the actual number, at most 1. */
  readonly stepRatio: number;
  /** Mean of the part of unique calls and the step ratio. */
  readonly score: number;
}

/**
 * Calculates the efficiency of a run; `undefined` if it has no calls. Default of `idealTurns`: one turn for each unique
 * call, and one for the answer to each message of the user, or for one answer without `replies`.
 */
export function calculateEfficiency(
  { calls, turns, replies = [] }:
    & Pick<Trajectory, "calls" | "turns">
    & Partial<Pick<Trajectory, "replies">>,
  idealTurns?: number,
): Efficiency | undefined {
  if (calls.length === 0) return undefined;
  const unique = new Set(calls.map(getCallKey)).size;
  const duplicateRatio = 1 - unique / calls.length;
  const answers = replies.at(-1)?.prompt ?? 1;
  const stepRatio = Math.min(1, (idealTurns ?? unique + answers) / Math.max(1, turns));
  return { duplicateRatio, stepRatio, score: (1 - duplicateRatio + stepRatio) / 2 };
}

/**
 * Creates the evaluator `efficiency`, which applies to runs with calls. Options of a case: `idealTurns`, and `threshold`,
 * the lowest score that passes; default: 0.5.
 */
export function createEfficiencyEvaluator(): Evaluator {
  const name = "efficiency";
  return {
    name,
    optionNames: ["idealTurns", "threshold"],
    checkOptions: readOptions,
    evaluate: ({ trajectory, options }) => {
      const { idealTurns, threshold } = readOptions(options);
      const efficiency = calculateEfficiency(trajectory, idealTurns);
      if (!efficiency) return undefined;
      const { score, duplicateRatio, stepRatio } = efficiency;
      const reason = `${toPercent(duplicateRatio)} of the calls are repeated, ` +
        `step ratio ${stepRatio.toFixed(2)}`;
      return { metric: name, value: score, passed: isAtLeast(score, threshold), reason };
    },
  };
}

interface EfficiencyOptions {
  readonly idealTurns: number | undefined;
  readonly threshold: number;
}

function readOptions(options: JsonObject): EfficiencyOptions {
  return {
    idealTurns: readNumber(options, "idealTurns"),
    threshold: readThreshold(options) ?? DEFAULT_THRESHOLD,
  };
}

function getCallKey({ tool, arguments: args }: TrajectoryCall): string {
  return toCanonicalText([tool, args]);
}

function toPercent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}
