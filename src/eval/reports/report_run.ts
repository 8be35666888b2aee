/**
 * The evaluation that a report is about.
 *
 * @module
 */

import type { EvalCase } from "../case/eval_case.ts";
import type { CaseResult, EvalSetResult } from "../run/case_result.ts";
import type { EvalRun } from "../store/eval_run.ts";

/** The results of `runEvalSet()`, or an evaluation that was read from disk, which has more to report. */
export type ReportRun =
  & EvalSetResult
  & Partial<
    Pick<EvalRun, "id" | "model" | "startedAt" | "finishedAt" | "set" | "damage">
  >;

/** Returns the cases of an evaluation by their ids; none if it does not have its set. */
export function indexCases({ set }: ReportRun): ReadonlyMap<string, EvalCase> {
  return new Map((set?.cases ?? []).map((evalCase) => [evalCase.id, evalCase]));
}

/** Returns the names of the models of an evaluation, sorted. */
export function listModels({ model, results }: ReportRun): string[] {
  const names = results.flatMap((result) => result.model ?? []);
  return model === undefined ? [...new Set(names)].sort() : [model];
}

/** Describes why a run did not pass: the metrics with their reasons, one each line. */
export function describeFailures({ scores }: CaseResult): string[] {
  return scores.filter(({ passed }) => !passed)
    .map(({ metric, reason }) => reason === undefined ? metric : `${metric}: ${reason}`);
}
