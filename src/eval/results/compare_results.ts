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

/** Whether the repetitions of a metric passed, by their number. */
type Repetitions = ReadonlyMap<number, boolean>;

/** Compares each metric of each case of two evaluations, in the order of the second one. Skipped runs are ignored. */
export function compareResults(before: EvalSetResult, after: EvalSetResult): MetricComparison[] {
  const first = groupByMetric(before.results);
  const second = groupByMetric(after.results);
  const keys = new Set([...second.keys(), ...first.keys()]);
  return Array.from(keys, (key) => compareMetric(key, first.get(key), second.get(key)));
}

function compareMetric(
  key: string,
  before: Repetitions = new Map(),
  after: Repetitions = new Map(),
): MetricComparison {
  const [caseId = "", metric = ""] = key.split("\n");
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

function groupByMetric(results: readonly CaseResult[]): Map<string, Map<number, boolean>> {
  const groups = new Map<string, Map<number, boolean>>();
  for (const { caseId, repetition, scores, outcome } of results) {
    if (outcome === "skipped") continue;
    const passedByMetric = new Map([[RUN_METRIC, true]]);
    for (const { metric, passed } of scores) {
      passedByMetric.set(metric, passed && (passedByMetric.get(metric) ?? true));
    }
    for (const [metric, passed] of passedByMetric) {
      const key = `${caseId}\n${metric}`;
      const group = groups.get(key) ?? new Map<number, boolean>();
      groups.set(key, group.set(repetition, passed));
    }
  }
  return groups;
}
