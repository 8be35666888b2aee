/**
 * The actions of `swink eval` on results.
 *
 * @module
 */

import {
  compareResults,
  type EvalRun,
  gate,
  type GateDecision,
  isRegression,
  listEvalRunHeaders,
  type MetricComparison,
  readEvalRun,
  summarizeRun,
  verifyEvalRun,
} from "../../src/eval/mod.ts";
import { AgentError, getErrorMessage } from "../../src/core/errors.ts";
import { join } from "../../src/platform/paths.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { toJsonLine } from "../render/json_line.ts";
import { toPlainText } from "../render/plain_text.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { resolvePath } from "../run/resolve_path.ts";
import type { ReportFileOptions } from "../settings/eval_options.ts";
import { parseReportFiles } from "./eval_settings.ts";
import { formatCost, formatRuns, formatScore } from "./eval_tables.ts";
import { findRun, findRunDirectory, readHistory } from "./find_run.ts";
import { writeReports } from "./write_reports.ts";

/** Options for the results and their format. */
export interface ResultOptions {
  /** Directory of the results. */
  readonly results: string;
  /** Format of standard output. */
  readonly outputFormat: "text" | "json";
}

/** Lists the metrics that changed; fails if one regressed, or if one that passed is missing. */
export async function compareEvaluations(
  before: string,
  after: string,
  { options, host }: { readonly options: ResultOptions; readonly host: Host },
): Promise<ExitCode> {
  const { results, outputFormat } = options;
  const [first, second] = [await findRun(before, results), await findRun(after, results)];
  const comparisons = compareResults(first, second);
  const { output } = host.terminal;
  if (outputFormat === "json") await output.write(toJsonLine(comparisons));
  else await output.write(formatComparisons(comparisons, host));
  const missing = [first, second].flatMap(describeMissing);
  for (const text of missing) {
    await host.terminal.messages.write(`warning: ${toPlainText(text)}\n`);
  }
  const hasRegressed = comparisons.some(isRegression);
  return hasRegressed || missing.length > 0 ? ExitCode.failed : ExitCode.ok;
}

/** Describes the runs of an evaluation that have no result, if there are any. */
function describeMissing({ id, planned, results }: EvalRun): string[] {
  const missing = planned - results.length;
  return missing > 0 ? [`${missing} of ${planned} runs of ${id} have no result`] : [];
}

function formatComparisons(comparisons: readonly MetricComparison[], host: Host): string {
  const changed = comparisons.filter(({ change }) => change !== "same");
  const rows = changed.map(({ caseId, metric, change, before, after, pValue }) => [
    change,
    caseId,
    metric,
    `${formatScore(before)} → ${formatScore(after)}`,
    pValue === undefined ? "" : `p = ${pValue.toFixed(3)}`,
  ]);
  const counts = (["regressed", "fixed", "same", "added", "removed"] as const).map((change) => {
    const count = comparisons.filter((comparison) => comparison.change === change).length;
    return `${count} ${change}`;
  });
  const table = rows.length === 0 ? "" : `${formatTable(rows, getTableOptions(host))}\n`;
  return `${table}${counts.join(" · ")}\n`;
}

/** Options of `swink eval gate`. */
export interface GateCommandOptions extends ResultOptions {
  readonly minPassRate: number | undefined;
  readonly minScore: number | undefined;
  readonly maxCost: number | undefined;
  /** In seconds. */
  readonly maxDuration: number | undefined;
  readonly baseline: string | undefined;
}

/** Decides by limits whether an evaluation is good enough. */
export async function gateEvaluation(
  name: string,
  options: GateCommandOptions,
  host: Host,
): Promise<ExitCode> {
  const { results } = options;
  const run = await findVerified(name, results);
  const baseline = options.baseline === undefined
    ? undefined
    : await findVerified(options.baseline, results);
  const decision = decide(run, baseline, options);
  const { output } = host.terminal;
  const { id } = run.run;
  if (options.outputFormat === "json") await output.write(toJsonLine({ run: id, ...decision }));
  else await output.write(formatDecision(id, decision));
  return GATE_CODES[decision.type];
}

/** An evaluation, and the reasons why its results are not those that were made. */
interface VerifiedRun {
  readonly run: EvalRun;
  readonly problems: readonly string[];
}

async function findVerified(name: string, results: string): Promise<VerifiedRun> {
  const run = await findRun(name, results);
  const missing = describeMissing(run);
  if (missing.length > 0) return { run, problems: missing };
  const { problems } = await verifyEvalRun(await findRunDirectory(name, results));
  return { run, problems };
}

function decide(
  { run, problems }: VerifiedRun,
  baseline: VerifiedRun | undefined,
  { minPassRate, minScore, maxCost, maxDuration }: GateCommandOptions,
): GateDecision {
  if (problems.length > 0) return { type: "no_result", reasons: problems };
  const invalid = baseline?.run.id === run.id
    ? ["The baseline is the evaluation itself: name another one"]
    : (baseline?.problems ?? []).map((problem) => `The baseline cannot be used: ${problem}`);
  if (invalid.length > 0) return { type: "configuration_error", reasons: invalid };
  return gate(run, {
    minPassRate,
    minScore,
    maxCost,
    maxDuration: maxDuration === undefined ? undefined : maxDuration * 1_000,
    noRegressionAgainst: baseline?.run,
  });
}

const GATE_CODES: Readonly<Record<GateDecision["type"], ExitCode>> = {
  pass: ExitCode.ok,
  fail: ExitCode.failed,
  no_result: ExitCode.failed,
  configuration_error: ExitCode.configuration,
};

const GATE_TITLES: Readonly<Record<GateDecision["type"], string>> = {
  pass: "passes",
  fail: "fails",
  no_result: "has no result",
  configuration_error: "was not checked: a limit or the baseline is invalid",
};

function formatDecision(id: string, { type, reasons }: GateDecision): string {
  const lines = [`${id} ${GATE_TITLES[type]}`, ...reasons.map((reason) => `  ${reason}`)];
  return `${lines.map((line) => toPlainText(line)).join("\n")}\n`;
}

/** Options of `swink eval report`. */
export interface ReportCommandOptions extends ReportFileOptions {
  readonly results: string;
  readonly baseline: string | undefined;
}

/** Writes the reports of an evaluation; without a file, prints its table. */
export async function reportEvaluation(
  name: string,
  options: ReportCommandOptions,
  host: Host,
): Promise<ExitCode> {
  const { results, baseline } = options;
  const files = parseReportFiles(options);
  const run = await findRun(name, results, { omitCalls: Object.keys(files).length === 0 });
  const { output, messages } = host.terminal;
  for (const damage of run.damage) await messages.write(`warning: ${toPlainText(damage)}\n`);
  const written = await writeReports(run, files, {
    history: await readHistory(run, results),
    baseline: baseline === undefined ? undefined : await findRun(baseline, results),
  });
  if (written.length === 0) await output.write(formatRuns([run], getTableOptions(host)));
  for (const path of written) await messages.write(`Report: ${toPlainText(path)}\n`);
  return ExitCode.ok;
}

/** Lists the evaluations, the last one first. */
export async function listEvaluations(
  { results, outputFormat }: ResultOptions,
  host: Host,
): Promise<ExitCode> {
  const headers = (await listEvalRunHeaders(resolvePath(results))).reverse();
  const { output, messages } = host.terminal;
  const entries: RunEntry[] = [];
  for (const { id } of headers) {
    try {
      const run = await readEvalRun(join(resolvePath(results), id), { omitCalls: true });
      entries.push(toEntry(run));
    } catch (error) {
      // It must not hide the others.
      await messages.write(`warning: ${toPlainText(`${id}: ${getErrorMessage(error)}`)}\n`);
    }
  }
  if (outputFormat === "json") {
    await output.write(toJsonLine(entries));
    return ExitCode.ok;
  }
  const rows = entries.map(({ id, setId, model, passed, failed, missing, score, cost }) => [
    id,
    setId,
    model ?? "",
    `${passed} of ${passed + failed + missing} passed`,
    `score ${formatScore(score ?? undefined)}`,
    formatCost(cost),
  ]);
  if (rows.length > 0) await output.write(formatTable(rows, getTableOptions(host)));
  else await messages.write(`No evaluation in ${results}\n`);
  return ExitCode.ok;
}

type RunEntry = ReturnType<typeof toEntry>;

function toEntry(run: EvalRun) {
  const { passed, failed, missing, score = null, cost } = summarizeRun(run);
  const { id, setId, model = null, startedAt } = run;
  return { id, setId, model, startedAt, passed, failed, missing, score, cost };
}

/** Verifies an evaluation. */
export async function verifyEvaluation(
  name: string,
  { results }: Pick<ResultOptions, "results">,
  host: Host,
): Promise<ExitCode> {
  const directory = await findRunDirectory(name, results);
  try {
    const { isValid, problems } = await verifyEvalRun(directory);
    const lines = isValid
      ? [`${directory} is complete and unchanged`]
      : [`${directory} is not valid`, ...problems.map((problem) => `  ${problem}`)];
    await host.terminal.output.write(`${lines.map((line) => toPlainText(line)).join("\n")}\n`);
    return isValid ? ExitCode.ok : ExitCode.failed;
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}
