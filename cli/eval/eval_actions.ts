/**
 * The actions of `swink eval` on results.
 *
 * @module
 */

import { AgentError, getErrorMessage } from "../../src/core/errors/errors.ts";
import {
  compareResults,
  type EvalCase,
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
import { formatScore } from "../../src/eval/reports/format_measure.ts";
import { join } from "../../src/platform/paths.ts";
import { UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { toJsonLine } from "../render/json_line.ts";
import { toOneLine, toPlainText } from "../render/plain_text.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { resolvePath } from "../run/settings/resolve_path.ts";
import type { ReportFileOptions } from "../settings/eval_options.ts";
import { parseReportFiles } from "./eval_settings.ts";
import { formatCost, formatRuns } from "./eval_tables.ts";
import { findRun, findRunDirectory, readHistory, type RunLocation } from "./find_run.ts";
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
  const location = { results: options.results, now: host.now };
  const [first, second] = [await findRun(before, location), await findRun(after, location)];
  const comparisons = compareResults(first, second);
  const { output } = host.terminal;
  if (options.outputFormat === "json") await output.write(toJsonLine(comparisons));
  else await output.write(formatComparisons(comparisons, host));
  const missing = [first, second].flatMap(describeMissing);
  const other = [...describeOtherSet(first, second), ...describeOtherConditions(first, second)];
  await warn([...missing, ...other], host);
  const hasRegressed = comparisons.some(isRegression);
  return hasRegressed || missing.length > 0 ? ExitCode.failed : ExitCode.ok;
}

async function warn(texts: readonly string[], { terminal }: Host): Promise<void> {
  for (const text of texts) await terminal.messages.write(`warning: ${toPlainText(text)}\n`);
}

/** Describes that two evaluations have results of different sets, which have nothing in common but names of cases. */
function describeOtherSet(before: EvalRun, after: EvalRun): string[] {
  return before.setId === after.setId ? [] : [
    `${after.id} has results of the set "${after.setId}", and ${before.id} of "${before.setId}"`,
  ];
}

/** Describes differences between two evaluations that are none of their agents. */
function describeOtherConditions(before: EvalRun, after: EvalRun): string[] {
  return [...describeChangedCases(before, after), ...describeOtherFaults(before, after)];
}

/** Describes that an agent is compared with one that had other faults, or none. */
function describeOtherFaults(before: EvalRun, after: EvalRun): string[] {
  if (JSON.stringify(before.seeds) === JSON.stringify(after.seeds)) return [];
  if (!before.seeds) return [`${after.id} has faults, and ${before.id} has none`];
  if (!after.seeds) return [`${before.id} has faults, and ${after.id} has none`];
  return [`${after.id} has the faults of other seeds than ${before.id}`];
}

/** Describes the cases with other expectations or files: weaker ones would hide that the agent is worse. */
function describeChangedCases(before: EvalRun, after: EvalRun): string[] {
  const toText = (
    { id: _, description: _text, repetitions: _count, tags: _tags, ...content }: EvalCase,
  ) => JSON.stringify(content);
  const known = new Map(before.set.cases.map((evalCase) => [evalCase.id, toText(evalCase)]));
  const changed = after.set.cases.filter((evalCase) =>
    known.has(evalCase.id) &&
    (known.get(evalCase.id) !== toText(evalCase) || hasOtherFixture(evalCase, before, after))
  ).map(({ id }) => id);
  return changed.length === 0 ? [] : [
    `${after.id} has other definitions or fixtures of cases than ${before.id}: ${
      changed.join(", ")
    }`,
  ];
}

/** Whether the files of a fixture differ; those of evaluations of earlier versions are unknown. */
function hasOtherFixture({ fixture = "" }: EvalCase, before: EvalRun, after: EvalRun): boolean {
  const [hash, other] = [before.fixtures?.[fixture], after.fixtures?.[fixture]];
  return hash !== undefined && other !== undefined && hash !== other;
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

/** Decides by limits whether evaluations are good enough, and returns the code of the worst decision. */
export async function gateEvaluations(
  names: readonly string[],
  options: GateCommandOptions,
  host: Host,
): Promise<ExitCode> {
  const location = { results: options.results, now: host.now };
  const runs: VerifiedRun[] = [];
  for (const name of names) runs.push(await findVerified(name, location));
  const baseline = options.baseline === undefined
    ? undefined
    : await findVerified(options.baseline, location);
  const codes: ExitCode[] = [];
  for (const verified of runs) {
    await warn(baseline ? describeOtherConditions(baseline.run, verified.run) : [], host);
    const decision = decide(verified, baseline, options);
    const { id } = verified.run;
    await host.terminal.output.write(
      options.outputFormat === "json"
        ? toJsonLine({ run: id, ...decision })
        : formatDecision(id, decision),
    );
    codes.push(GATE_CODES[decision.type]);
  }
  return codes.reduce((worst, code) => code > worst ? code : worst, ExitCode.ok);
}

/** An evaluation, and the reasons why its results are not those that were made. */
interface VerifiedRun {
  readonly directory: string;
  readonly run: EvalRun;
  readonly problems: readonly string[];
}

async function findVerified(name: string, location: RunLocation): Promise<VerifiedRun> {
  const directory = await findRunDirectory(name, location);
  const run = await findRun(directory, location);
  const missing = describeMissing(run);
  const problems = missing.length > 0 ? missing : (await verifyEvalRun(directory)).problems;
  return { directory: await Deno.realPath(directory), run, problems };
}

function decide(
  verified: VerifiedRun,
  baseline: VerifiedRun | undefined,
  { minPassRate, minScore, maxCost, maxDuration }: GateCommandOptions,
): GateDecision {
  const { run, problems } = verified;
  if (problems.length > 0) return { type: "no_result", reasons: problems };
  const invalid = baseline ? findBaselineProblems(verified, baseline) : [];
  if (invalid.length > 0) return { type: "configuration_error", reasons: invalid };
  const decision = gate(run, {
    minPassRate,
    minScore,
    maxCost,
    maxDuration: maxDuration === undefined ? undefined : maxDuration * 1_000,
    noRegressionAgainst: baseline?.run,
  });
  return { ...decision, reasons: decision.reasons.map(nameFlag) };
}

/** The flags for the options of `gate()` that a reason can begin with. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ["minPassRate", "--min-pass-rate"],
  ["minScore", "--min-score"],
  ["noRegressionAgainst", "--baseline"],
]);

function nameFlag(reason: string): string {
  return reason.replace(/^\w+(?= )/, (name) => FLAGS.get(name) ?? name);
}

function findBaselineProblems(verified: VerifiedRun, baseline: VerifiedRun): string[] {
  return isSameEvaluation(verified, baseline)
    ? ["The baseline is the evaluation itself: name another one"]
    : baseline.problems.map((problem) => `The baseline cannot be used: ${problem}`);
}

/** Whether two directories are the same one, or one is a copy of the other, in which nothing could regress. */
function isSameEvaluation(left: VerifiedRun, right: VerifiedRun): boolean {
  const getContent = ({ run: { id: _, ...content } }: VerifiedRun) => JSON.stringify(content);
  return left.directory === right.directory || getContent(left) === getContent(right);
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
  const title = toOneLine(toPlainText(`${id} ${GATE_TITLES[type]}`));
  const lines = reasons.map((reason) => `  ${toOneLine(toPlainText(reason))}`);
  return `${[title, ...lines].join("\n")}\n`;
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
  const location = { results, now: host.now };
  const run = await findRun(name, { ...location, withCalls: Object.keys(files).length > 0 });
  const { output, messages } = host.terminal;
  await warn(run.damage, host);
  const written = await writeReports(run, files, {
    history: await readHistory(run, results),
    baseline: baseline === undefined ? undefined : await findRun(baseline, location),
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
      // An evaluation that cannot be read must not hide the others.
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
  const directory = await findRunDirectory(name, { results, now: host.now });
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
