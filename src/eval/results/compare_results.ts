/**
 * Comparison of the results of two evaluations.
 *
 * @module
 */

import type { CaseResult, EvalSetResult } from "../run/case_result.ts";
import { calculateMcNemar } from "../statistics/compare_pairs.ts";

/** The change of a metric of a case. */
export interface MetricComparison {
  /** Id of the case. */
  readonly caseId: string;
  /** Name of the metric. */
  readonly metric: string;
  /**
   * `regressed`: a smaller part of the repetitions passed than before, or of those with the metric: an evaluator may apply
   * to some only. `fixed`: a larger one. `same`: as many. `added`, `removed`: only the second, or only the first, evaluation
   * has the metric.
   */
  readonly change: "regressed" | "fixed" | "same" | "added" | "removed";
  /** Part of the repetitions that passed before; `undefined` if there were none. */
  readonly before: number | undefined;
  /** Part of the repetitions that passed; `undefined` if there are none. */
  readonly after: number | undefined;
  /**
   * Two-sided p-value of the exact test of McNemar over the repetitions that both have; `undefined` for fewer than two.
   */
  readonly pValue: number | undefined;
}

/** Whether a metric passes less often than before, also because its case or its evaluator is missing. */
export function isRegression({ change, before = 0 }: MetricComparison): boolean {
  return change === "regressed" || (change === "removed" && before > 0);
}

/** The repetitions of a metric in one evaluation. */
interface Repetitions {
  /** Whether those with the metric passed, by their number. */
  readonly passed: ReadonlyMap<number, boolean>;
  /** Number of repetitions of the case. */
  readonly count: number;
}

/** Compares each metric of each case of two evaluations, in the order of the second one. Skipped runs are ignored. */
export function compareResults(before: EvalSetResult, after: EvalSetResult): MetricComparison[] {
  const first = groupByMetric(before.results);
  const second = groupByMetric(after.results);
  const groups = new Map([...second, ...first]);
  return Array.from(groups.values(), (group) =>
    compareMetric(group, {
      before: getRepetitions(first, group),
      after: getRepetitions(second, group),
    }));
}

function getRepetitions(
  groups: ReadonlyMap<string, MetricGroup>,
  { caseId, metric }: MetricGroup,
): Repetitions {
  const find = (name: string) =>
    groups.get(getGroupKey(caseId, name))?.repetitions ?? new Map<number, boolean>();
  return { passed: find(metric), count: find(RUN_METRIC).size };
}

function compareMetric(
  { caseId, metric }: MetricGroup,
  { before, after }: { readonly before: Repetitions; readonly after: Repetitions },
): MetricComparison {
  const pairs = [...before.passed].flatMap(([repetition, passed]) => {
    const other = after.passed.get(repetition);
    return other === undefined ? [] : [{ before: passed, after: other }];
  });
  const onlyBefore = pairs.filter((pair) => pair.before && !pair.after).length;
  const onlyAfter = pairs.filter((pair) => !pair.before && pair.after).length;
  const pValue = pairs.length < 2 ? undefined : calculateMcNemar(onlyBefore, onlyAfter);
  const rates = { before: getRate(before), after: getRate(after) };
  return { caseId, metric, change: getChange(before, after), ...rates, pValue };
}

function getChange(before: Repetitions, after: Repetitions): MetricComparison["change"] {
  const [rate, nextRate] = [getRate(before), getRate(after)];
  if (rate === undefined) return "added";
  if (nextRate === undefined) return "removed";
  // A metric that is missing did not pass, and one that fails must not be hidden by others that were missing before.
  if (nextRate < rate || getScoredRate(after) < getScoredRate(before)) return "regressed";
  return nextRate > rate ? "fixed" : "same";
}

/** Returns the part of all repetitions that passed; `undefined` if none has the metric. */
function getRate({ passed, count }: Repetitions): number | undefined {
  return passed.size === 0 ? undefined : countPassed(passed) / count;
}

/** Returns the part of the repetitions with the metric that passed. */
function getScoredRate({ passed }: Repetitions): number {
  return countPassed(passed) / passed.size;
}

function countPassed(passed: Repetitions["passed"]): number {
  return [...passed.values()].filter((isPassed) => isPassed).length;
}

/** A metric `run` exists only for runs that failed; a comparison needs it for the other ones, too. */
const RUN_METRIC = "run";

/** The repetitions of a metric of a case. */
interface MetricGroup extends Pick<MetricComparison, "caseId" | "metric"> {
  readonly repetitions: Map<number, boolean>;
}

function groupByMetric(results: readonly CaseResult[]): Map<string, MetricGroup> {
  const groups = new Map<string, MetricGroup>();
  for (const { caseId, repetition, scores, outcome } of results) {
    if (outcome === "skipped") continue;
    const passedByMetric = new Map([[RUN_METRIC, true]]);
    for (const { metric, passed } of scores) {
      passedByMetric.set(metric, passed && (passedByMetric.get(metric) ?? true));
    }
    for (const [metric, passed] of passedByMetric) {
      const key = getGroupKey(caseId, metric);
      const group = groups.get(key) ?? { caseId, metric, repetitions: new Map() };
      group.repetitions.set(repetition, passed);
      groups.set(key, group);
    }
  }
  return groups;
}

function getGroupKey(caseId: string, metric: string): string {
  return JSON.stringify([caseId, metric]);
}

/** The metrics of a comparison that have changed, and the number of those that only the second evaluation has. */
export interface MetricChanges {
  readonly changed: readonly MetricComparison[];
  readonly added: number;
}

/** Selects the metrics that a report shows. */
export function selectChanges(comparisons: readonly MetricComparison[]): MetricChanges {
  return {
    changed: comparisons.filter(({ change }) => change !== "same" && change !== "added"),
    added: comparisons.filter(({ change }) => change === "added").length,
  };
}
