/**
 * The totals of an evaluation, for reports.
 *
 * @module
 */

import { calculateCost, calculateScore } from "../results/result_totals.ts";
import type { CaseResult } from "../run/case_result.ts";
import { calculateWilsonInterval, type Interval } from "../statistics/wilson_interval.ts";
import type { ReportRun } from "./report_run.ts";

/** Totals of some runs. */
export interface RunTotals {
  /** Number of runs that passed. */
  readonly passed: number;
  /** Number of runs that failed. */
  readonly failed: number;
  /** Number of runs that were skipped. */
  readonly skipped: number;
  /** Confidence interval of the part of the runs that passed: 95 %, by Wilson. */
  readonly interval: Interval;
  /** Mean of the scores by their weights, from 0 to 1, 0 for a run that ended with an error; `undefined` without scores. */
  readonly score: number | undefined;
  /** Cost of the runs and of their judges in US dollars; `null` if it is unknown. */
  readonly cost: number | null;
  /** Tokens of the runs. */
  readonly tokens: number;
  /** Sum of the durations of the runs in milliseconds. */
  readonly durationMs: number;
}

/** Totals of the repetitions of a case. */
export interface CaseTotals extends RunTotals {
  /** Id of the case. */
  readonly caseId: string;
  /** The results, in the order of the repetitions. */
  readonly results: readonly CaseResult[];
}

/** Totals of an evaluation. */
export interface RunSummary extends RunTotals {
  /** Number of runs without a result, because the evaluation was interrupted. */
  readonly missing: number;
  /** The cases, in their order. */
  readonly cases: readonly CaseTotals[];
}

/**
 * Summarizes the results of an evaluation.
 *
 * @example
 * ```ts
 * import { summarizeRun } from "@swink/agent/eval";
 *
 * summarizeRun({ setId: "greetings", results: [] }).passed; // 0
 * ```
 */
export function summarizeRun({ results, planned = results.length }: ReportRun): RunSummary {
  const byCase = new Map<string, CaseResult[]>();
  for (const result of results) {
    const group = byCase.get(result.caseId);
    if (group) group.push(result);
    else byCase.set(result.caseId, [result]);
  }
  const cases = Array.from(byCase, ([caseId, group]) => ({
    caseId,
    results: group,
    ...calculateTotals(group),
  }));
  return { ...calculateTotals(results), missing: planned - results.length, cases };
}

function calculateTotals(results: readonly CaseResult[]): RunTotals {
  const count = (outcome: CaseResult["outcome"]) =>
    results.filter((result) => result.outcome === outcome).length;
  const made = results.filter(({ outcome }) => outcome !== "skipped");
  const [passed, failed] = [count("passed"), count("failed")];
  return {
    passed,
    failed,
    interval: calculateWilsonInterval(passed, passed + failed),
    skipped: count("skipped"),
    score: calculateScore(made),
    cost: calculateCost(results),
    tokens: results.reduce((sum, { trajectory }) => sum + (trajectory?.usage.total ?? 0), 0),
    durationMs: results.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}
