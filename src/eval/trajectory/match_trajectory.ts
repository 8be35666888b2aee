/**
 * Comparison of a trajectory with the expected calls.
 *
 * @module
 */

import type { ExpectedCall, ExpectedTrajectory, TrajectoryMatch } from "../case/eval_case.ts";
import { compileExpectedCall, type MatchCall } from "./match_arguments.ts";
import type { TrajectoryCall } from "./trajectory.ts";

/** The result of a comparison. */
export interface TrajectoryMatchResult {
  /** Part of the expected calls that were found, from 0 to 1; below 1 also if `exact` found further calls. */
  readonly score: number;
  /** Whether the trajectory matches: the score is 1. */
  readonly passed: boolean;
  /** Number of expected calls that were found. */
  readonly found: number;
  /** Number of expected calls. */
  readonly expected: number;
  /** Number of calls. */
  readonly actual: number;
  /** The expected calls that match none of the calls, at any position. */
  readonly unmatched: readonly ExpectedCall[];
}

/**
 * Compares tool calls with the expected ones.
 *
 * `exact` scores the part of equal positions, and 0 if the numbers differ. `in_order` scores the longest part of the
 * expected calls that occurs in this order, and `any_order` the most expected calls that are calls of their own.
 *
 * @throws {Error} If a pattern or a schema of a matcher is invalid.
 */
export async function matchTrajectory(
  calls: readonly TrajectoryCall[],
  { match, calls: expectedCalls, subAgents = false }: ExpectedTrajectory,
): Promise<TrajectoryMatchResult> {
  const matchers = await Promise.all(expectedCalls.map(compileExpectedCall));
  const compared = subAgents ? flatten(calls) : calls;
  const found = COUNTERS[match](matchers, compared);
  const expected = matchers.length;
  const actual = compared.length;
  const hasOtherLength = match === "exact" && expected !== actual;
  const score = hasOtherLength ? 0 : expected === 0 ? 1 : found / expected;
  const unmatched = expectedCalls.filter((_, index) =>
    !compared.some((call) => matchers[index]?.(call))
  );
  return { score, passed: score === 1, found, expected, actual, unmatched };
}

/** Counts the expected calls that occur. */
type CountMatches = (expected: readonly MatchCall[], calls: readonly TrajectoryCall[]) => number;

const COUNTERS: Readonly<Record<TrajectoryMatch, CountMatches>> = {
  exact: countPositions,
  in_order: countSubsequence,
  any_order: countPairs,
};

function countPositions(expected: readonly MatchCall[], calls: readonly TrajectoryCall[]): number {
  return expected.filter((matches, index) => {
    const call = calls[index];
    return call !== undefined && matches(call);
  }).length;
}

/** Returns the length of the longest common subsequence. */
function countSubsequence(
  expected: readonly MatchCall[],
  calls: readonly TrajectoryCall[],
): number {
  let previous = new Array<number>(expected.length + 1).fill(0);
  for (const call of calls) {
    const lengths = [0];
    expected.forEach((matches, index) => {
      const extended = matches(call) ? (previous[index] ?? 0) + 1 : 0;
      lengths.push(Math.max(extended, previous[index + 1] ?? 0, lengths[index] ?? 0));
    });
    previous = lengths;
  }
  return previous[expected.length] ?? 0;
}

/**
 * Returns the size of the largest assignment of calls to expected calls. A call can match several expectations, so that
 * taking the first match of each could miss an assignment; augmenting paths (Kuhn) find it.
 */
function countPairs(expected: readonly MatchCall[], calls: readonly TrajectoryCall[]): number {
  const candidates = expected.map((matches) =>
    calls.flatMap((call, index) => matches(call) ? [index] : [])
  );
  const owners = new Map<number, number>();
  const assign = (index: number, visited: Set<number>): boolean => {
    for (const call of candidates[index] ?? []) {
      if (visited.has(call)) continue;
      visited.add(call);
      const owner = owners.get(call);
      if (owner !== undefined && !assign(owner, visited)) continue;
      owners.set(call, index);
      return true;
    }
    return false;
  };
  return candidates.filter((_, index) => assign(index, new Set())).length;
}

/** Returns each call, followed by the calls of its agent. */
function flatten(calls: readonly TrajectoryCall[]): TrajectoryCall[] {
  return calls.flatMap((call) => [call, ...flatten(call.calls)]);
}
