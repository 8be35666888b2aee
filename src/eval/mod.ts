/**
 * Evaluates agents: cases in a file, the tool calls of a run, and scores by the expectations of a case.
 *
 * {@linkcode loadEvalSet} reads cases from a YAML or JSON file, {@linkcode TrajectoryCollector} collects the tool calls
 * and the answer of an agent from its events, and {@linkcode matchTrajectory} compares them with the expected calls.
 * {@linkcode runEvalSet} runs the cases, each with an agent and a directory of its own.
 * {@linkcode EvaluatorRegistry} scores a run by all expectations of its case, and {@linkcode BudgetGuard} stops a run that
 * exceeds its budget. {@linkcode createEvalRun} keeps the results on disk, {@linkcode formatHtmlReport} shows them, and
 * {@linkcode compareResults} and {@linkcode gate} decide whether they are good enough for a release.
 * {@linkcode createPatchEvaluation} runs tasks in the format of SWE-bench.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { matchTrajectory, TrajectoryCollector } from "@swink/agent/eval";
 * import { fakeTool, reply, scriptedStream, toolCall } from "@swink/agent/testing";
 *
 * const streamFn = scriptedStream([reply([toolCall("add", { left: 2 })]), reply("Done")]);
 * const agent = new Agent({ model: "test/model", streamFn, tools: [fakeTool({ name: "add" })] });
 * const collector = new TrajectoryCollector();
 * for await (const event of agent.promptStream("Add")) collector.add(event);
 *
 * const { passed } = await matchTrajectory(collector.trajectory.calls, {
 *   match: "in_order",
 *   calls: [{ tool: "add" }],
 * });
 * passed; // true
 * ```
 *
 * @module
 */

export type {
  ArgumentMatcher,
  EvalBudget,
  EvalCase,
  EvalSet,
  EvaluatorConfig,
  ExpectedCall,
  ExpectedFile,
  ExpectedTrajectory,
  ResponseCriteria,
  TrajectoryMatch,
} from "./case/eval_case.ts";
export { type EvalFiles, localEvalFiles } from "./case/eval_files.ts";
export { evalSetSchema } from "./case/eval_set_schema.ts";
export type {
  CommandSandbox,
  OpenCommandSandbox,
  RunningCommand,
} from "./command/command_sandbox.ts";
export { openUnconfined } from "./command/unconfined_commands.ts";
export {
  type BudgetSpending,
  createBudgetEvaluator,
  findExceededLimits,
} from "./evaluators/budget_evaluator.ts";
export { BudgetGuard, type BudgetGuardOptions } from "./evaluators/budget_guard.ts";
export {
  calculateEfficiency,
  createEfficiencyEvaluator,
  type Efficiency,
} from "./evaluators/efficiency_evaluator.ts";
export type { EvalContext, Evaluator } from "./evaluators/evaluator.ts";
export { createCommandEvaluator } from "./evaluators/command_evaluator.ts";
export {
  type DefaultEvaluatorOptions,
  EvaluatorRegistry,
} from "./evaluators/evaluator_registry.ts";
export { createFilesEvaluator, type ReadCaseFile } from "./evaluators/files_evaluator.ts";
export { createResponseEvaluator, scoreResponse } from "./evaluators/response_evaluator.ts";
export {
  createJudgeEvaluator,
  type JudgeAnswer,
  type JudgeCache,
  type JudgeModel,
  type JudgeOptions,
  type JudgeRequestOptions,
} from "./evaluators/judge_evaluator.ts";
export type { JudgeTopic } from "./evaluators/judge_prompt.ts";
export { LruJudgeCache, type LruJudgeCacheOptions } from "./evaluators/lru_judge_cache.ts";
export { calculateMeanScore, type Score } from "./evaluators/score.ts";
export { createTrajectoryEvaluator } from "./evaluators/trajectory_evaluator.ts";
export { loadEvalSet, type LoadEvalSetOptions, parseEvalSet } from "./case/load_eval_set.ts";
export { gradePatch, type GradePatchOptions, type PatchGrade } from "./patch_tasks/grade_patch.ts";
export { loadPatchTasks, type LoadPatchTasksOptions } from "./patch_tasks/load_patch_tasks.ts";
export {
  createPatchEvaluation,
  type PatchEvaluation,
  type PatchEvaluationOptions,
} from "./patch_tasks/patch_evaluation.ts";
export {
  formatPrediction,
  type PatchPrediction,
  type PatchTask,
} from "./patch_tasks/patch_task.ts";
export {
  PredictionsFile,
  type PredictionsFileOptions,
  type WritePredictionOptions,
} from "./patch_tasks/predictions_file.ts";
export { formatHtmlReport, type HtmlReportOptions } from "./reports/html_report.ts";
export { formatJunitReport } from "./reports/junit_report.ts";
export { formatMarkdownReport, type ReportOptions } from "./reports/markdown_report.ts";
export type { ReportRun } from "./reports/report_run.ts";
export {
  type CaseTotals,
  type RunSummary,
  type RunTotals,
  summarizeRun,
} from "./reports/summarize_run.ts";
export { type AuditTrail, createAuditTrail, verifyAuditTrail } from "./results/audit_trail.ts";
export { compareResults, isRegression, type MetricComparison } from "./results/compare_results.ts";
export { gate, type GateDecision, type GateOptions } from "./results/gate.ts";
export type {
  CaseDirectory,
  CaseDirectoryOptions,
  CreateCaseDirectory,
} from "./run/case_directory.ts";
export type { CaseResult, EvalSetResult } from "./run/case_result.ts";
export type { DisposableAgent, EvalAgentRequest, MakeAgent } from "./run/run_case.ts";
export { runEvalSet, type RunEvalSetOptions } from "./run/run_eval_set.ts";
export { calculateRobustness, type CaseRobustness } from "./statistics/calculate_robustness.ts";
export { calculateMcNemar } from "./statistics/compare_pairs.ts";
export { calculatePassAtK } from "./statistics/pass_at_k.ts";
export {
  type RepetitionScore,
  type ScoreSummary,
  summarizeScores,
} from "./statistics/summarize_scores.ts";
export { calculateWilsonInterval, type Interval } from "./statistics/wilson_interval.ts";
export type { EvalRun, EvalRunHeader } from "./store/eval_run.ts";
export {
  listEvalRunHeaders,
  listEvalRuns,
  readEvalRun,
  type ReadEvalRunOptions,
  type ReadFilesOptions,
  type RunVerification,
  verifyEvalRun,
} from "./store/read_eval_run.ts";
export {
  createEvalRun,
  type CreateEvalRunOptions,
  type EvalRunWriter,
  type FinishOptions,
  resumeEvalRun,
  type ResumeEvalRunOptions,
} from "./store/write_eval_run.ts";
export { matchTrajectory, type TrajectoryMatchResult } from "./trajectory/match_trajectory.ts";
export type {
  Trajectory,
  TrajectoryCall,
  TrajectoryOutcome,
  TrajectoryReply,
} from "./trajectory/trajectory.ts";
export {
  TrajectoryCollector,
  type TrajectoryCollectorOptions,
} from "./trajectory/trajectory_collector.ts";
export type { UntrustedRead } from "../platform/untrusted_read.ts";
