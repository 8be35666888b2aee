/**
 * Decides whether the results of an evaluation are good enough.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject } from "../../core/json/json.ts";
import { isAtLeast, isAtMost } from "../evaluators/compare_limit.ts";
import { formatDollars } from "../evaluators/format_dollars.ts";
import type { CaseResult, EvalSetResult } from "../run/case_result.ts";
import { isCaseResult } from "../run/is_case_result.ts";
import { compareResults, isRegression } from "./compare_results.ts";
import { calculateCost, calculateScore, hasError } from "./result_totals.ts";

/** Limits of the results. Default of each, except for `minPassRate`: not checked. */
export interface GateOptions {
  /**
   * Lowest part of the runs that passed, from 0 to 1. Default: 1, so that a limit of the cost alone accepts no failures;
   * with `minScore`, or with `noRegressionAgainst` in which a metric of a run without an error passed: not checked, unless
   * all runs ended with an error.
   */
  readonly minPassRate?: number | undefined;
  /** Lowest mean of all scores by their weights, from 0 to 1. Those of a run that ended with an error are 0. */
  readonly minScore?: number | undefined;
  /** Highest cost of all runs and of their judges in US dollars; an unknown cost exceeds it. */
  readonly maxCost?: number | undefined;
  /** Highest duration of a run in milliseconds. */
  readonly maxDuration?: number | undefined;
  /** Complete results of the same set, without which no metric that passed may fail. */
  readonly noRegressionAgainst?: EvalSetResult | undefined;
}

/**
 * The decision, with a reason for each limit that is not met.
 *
 * `no_result`: there are no results, or some are invalid, doubled or missing, as after the evaluation was cancelled.
 * `configuration_error`: an option is invalid.
 */
export interface GateDecision {
  readonly type: "pass" | "fail" | "no_result" | "configuration_error";
  /** The reasons, as sentences without a period; none for `pass`. */
  readonly reasons: readonly string[];
}

/**
 * Decides whether results are good enough for a release.
 *
 * @example
 * ```ts
 * import { gate } from "@swink/agent/eval";
 *
 * gate({ setId: "greetings", results: [] }).type; // "no_result"
 * ```
 */
export function gate(result: EvalSetResult | undefined, options: GateOptions = {}): GateDecision {
  const invalid = findInvalidOptions(options);
  if (invalid.length > 0) return { type: "configuration_error", reasons: invalid };
  const unusable = describeUnusable(result);
  if (!result || unusable !== undefined) {
    return { type: "no_result", reasons: [unusable ?? NO_RESULTS] };
  }
  const { results } = result;
  const baseline = options.noRegressionAgainst;
  const problem = baseline && findBaselineProblem(baseline, result);
  if (problem !== undefined) return { type: "configuration_error", reasons: [problem] };
  const reasons = [
    ...findQualityFailures(results, options),
    ...findSpendingFailures(results, options),
  ];
  if (baseline) reasons.push(...findRegressions(baseline, result));
  return { type: reasons.length === 0 ? "pass" : "fail", reasons };
}

const NO_RESULTS = "There are no results";

/** Describes why results cannot be compared with limits; `undefined` if they can. */
function describeUnusable(result: EvalSetResult | undefined): string | undefined {
  if (result === undefined) return NO_RESULTS;
  if (!isJsonObject(result) || !Array.isArray(result.results)) return "They are no results";
  const { results, planned = results.length } = result;
  if (results.length === 0) return NO_RESULTS;
  const index = results.findIndex((entry: unknown) => !isCaseResult(entry));
  if (index >= 0) return `Entry ${index} of the results is no valid result`;
  const skipped = results.filter(({ outcome }) => outcome === "skipped").length;
  if (skipped > 0) return `${skipped} of ${results.length} runs were skipped`;
  const runs = new Set(results.map(({ caseId, repetition }) => `${caseId} ${repetition}`));
  // Each one would count, so that copies of a run that passed would hide one that failed.
  if (runs.size < results.length) {
    return `${
      results.length - runs.size
    } of ${results.length} results are of the same runs as others`;
  }
  // Such as those that a process left open that was killed.
  if (planned === results.length) return undefined;
  return `${planned - results.length} of ${planned} runs have no result`;
}

const RATES = ["minPassRate", "minScore"] as const;
const LIMITS = ["maxCost", "maxDuration"] as const;
const OPTION_NAMES: readonly string[] = [...RATES, ...LIMITS, "noRegressionAgainst"];

/** A baseline without results of the set would show no regression of any result. */
function findBaselineProblem(
  baseline: EvalSetResult,
  { setId }: EvalSetResult,
): string | undefined {
  const unusable = describeUnusable(baseline);
  if (unusable !== undefined) return `noRegressionAgainst cannot be used: ${unusable}`;
  if (baseline.setId !== setId) {
    return `noRegressionAgainst has results of the set "${baseline.setId}", not "${setId}"`;
  }
  return undefined;
}

function findInvalidOptions(options: GateOptions): string[] {
  if (!isJsonObject(options)) return ["Pass limits such as { minPassRate: 0.9 }"];
  // A misspelled limit would not be checked.
  try {
    checkNames(options, OPTION_NAMES, "gate()");
  } catch (error) {
    return [getErrorMessage(error)];
  }
  const isRate = (value: unknown) => typeof value === "number" && value >= 0 && value <= 1;
  const isLimit = (value: unknown) => typeof value === "number" && value >= 0;
  const rates = RATES.filter((name) => options[name] !== undefined && !isRate(options[name]));
  const limits = LIMITS.filter((name) => options[name] !== undefined && !isLimit(options[name]));
  return [
    ...rates.map((name) => `${name} must be from 0 to 1, not ${describeValue(options[name])}`),
    ...limits.map((name) => `${name} must be at least 0, not ${describeValue(options[name])}`),
  ];
}

function findQualityFailures(results: readonly CaseResult[], options: GateOptions): string[] {
  const reasons: string[] = [];
  const { minScore, noRegressionAgainst } = options;
  const hasOtherLimit = (minScore !== undefined || hasPassedMetric(noRegressionAgainst)) &&
    !results.every(hasError);
  const minPassRate = options.minPassRate ?? (hasOtherLimit ? undefined : 1);
  const passed = results.filter(({ outcome }) => outcome === "passed").length;
  // A comparison with NaN is false, so that each condition is that of success.
  if (minPassRate !== undefined && !isAtLeast(passed / results.length, minPassRate)) {
    reasons.push(
      `${passed} of ${results.length} runs passed; the minimum is ${toPercent(minPassRate)}`,
    );
  }
  const mean = calculateScore(results) ?? 0;
  if (minScore !== undefined && !isAtLeast(mean, minScore)) {
    reasons.push(`The mean score of ${mean.toFixed(3)} is below ${minScore}`);
  }
  return reasons;
}

/** Whether a baseline is a limit: without a metric that passed, nothing can regress. */
function hasPassedMetric(baseline: EvalSetResult | undefined): boolean {
  return baseline?.results.some((result) =>
    !hasError(result) && result.scores.some(({ passed }) => passed)
  ) ?? false;
}

function toPercent(rate: number): string {
  return `${Number((rate * 100).toFixed(2))} %`;
}

function findSpendingFailures(
  results: readonly CaseResult[],
  { maxCost, maxDuration }: GateOptions,
): string[] {
  const reasons: string[] = [];
  if (maxCost !== undefined) {
    const cost = calculateCost(results);
    if (cost === null) {
      reasons.push(`The cost is unknown, and limited to ${formatDollars(maxCost)}`);
    } else if (!isAtMost(cost, maxCost)) {
      reasons.push(`The cost of ${formatDollars(cost)} exceeds ${formatDollars(maxCost)}`);
    }
  }
  const longest = results.reduce((most, { durationMs }) => Math.max(most, durationMs), 0);
  if (maxDuration !== undefined && !(longest <= maxDuration)) {
    reasons.push(`A run took ${Math.round(longest)} ms, more than ${maxDuration} ms`);
  }
  return reasons;
}

function findRegressions(baseline: EvalSetResult, result: EvalSetResult): string[] {
  return compareResults(baseline, result)
    .filter(isRegression)
    .map(({ caseId, metric, change }) => `${caseId}: ${metric} ${change}`);
}
