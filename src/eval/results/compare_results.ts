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
   * `regressed`: a smaller part of the repetitions passed than before. `fixed`: a larger one. `same`: as many. `added`,
   * `removed`: only the second, or only the first, evaluation has the metric.
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

/** Whether the repetitions of a metric passed, by their number. */
type Repetitions = ReadonlyMap<number, boolean>;

/** Compares each metric of each case of two evaluations, in the order of the second one. Skipped runs are ignored. */
export function compareResults(before: EvalSetResult, after: EvalSetResult): MetricComparison[] {
  const first = groupByMetric(before.results);
  const second = groupByMetric(after.results);
  const groups = new Map([...second, ...first]);
  return Array.from(groups, ([key, group]) =>
    compareMetric(group, {
      before: first.get(key)?.repetitions ?? new Map(),
      after: second.get(key)?.repetitions ?? new Map(),
    }));
}

function compareMetric(
  { caseId, metric }: MetricGroup,
  { before, after }: { readonly before: Repetitions; readonly after: Repetitions },
): MetricComparison {
  const rates = { before: getRate(before), after: getRate(after) };
  const pairs = [...before].flatMap(([repetition, passed]) => {
    const other = after.get(repetition);
    return other === undefined ? [] : [{ before: passed, after: other }];
  });
  const onlyBefore = pairs.filter((pair) => pair.before && !pair.after).length;
  const onlyAfter = pairs.filter((pair) => !pair.before && pair.after).length;
  const pValue = pairs.length < 2 ? undefined : calculateMcNemar(onlyBefore, onlyAfter);
  return { caseId, metric, change: getChange(rates), ...rates, pValue };
}

function getChange(
  { before, after }: Pick<MetricComparison, "before" | "after">,
): MetricComparison["change"] {
  if (before === undefined) return "added";
  if (after === undefined) return "removed";
  if (after < before) return "regressed";
  return after > before ? "fixed" : "same";
}

function getRate(repetitions: Repetitions): number | undefined {
  if (repetitions.size === 0) return undefined;
  return [...repetitions.values()].filter((passed) => passed).length / repetitions.size;
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
      const key = JSON.stringify([caseId, metric]);
      const group = groups.get(key) ?? { caseId, metric, repetitions: new Map() };
      group.repetitions.set(repetition, passed);
      groups.set(key, group);
    }
  }
  return groups;
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
