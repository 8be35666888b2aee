/**
 * Evaluations as tables of text.
 *
 * @module
 */

import {
  calculateRobustness,
  type CaseResult,
  type CaseTotals,
  type EvalRun,
  summarizeRun,
} from "../../src/eval/mod.ts";
import { formatPassed, formatScore } from "../../src/eval/reports/format_measure.ts";
import { toOneLine, toPlainText } from "../render/plain_text.ts";
import { formatTable, type TableOptions } from "../render/table.ts";
import { truncateToWidth } from "../render/text_width.ts";
import { formatDuration } from "../render/usage_line.ts";
import { wrapText } from "../render/wrap_text.ts";

/** Columns of a reason; a longer one is cut also where the output is no terminal. */
const MAX_REASON = 300;

/** Formats a cost, such as `$0.0123`. */
export function formatCost(cost: number | null): string {
  if (cost === null) return "price unknown";
  return cost === 0 ? "$0" : `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

/** Formats evaluations of a set: the cases in rows, with the totals of each evaluation, and the failures. */
export function formatRuns(runs: readonly EvalRun[], options: TableOptions): string {
  const [only] = runs;
  const table = runs.length === 1 && only
    ? formatTable(listRows(only), options)
    : formatTable(listModelRows(runs), options);
  return table + runs.map((run) => formatEnd(run, runs.length > 1, options)).join("");
}

function listRows(run: EvalRun): string[][] {
  return [
    ["", "case", "passed", "score", "cost", "time"],
    ...summarizeRun(run).cases.map((totals) => [
      getMark(totals),
      totals.caseId,
      formatPassed(totals),
      formatScore(totals.score),
      formatCost(totals.cost),
      formatDuration(totals.durationMs),
    ]),
  ];
}

/** Returns a row for each case, with a column for each evaluation. */
function listModelRows(runs: readonly EvalRun[]): string[][] {
  const summaries = runs.map((run) =>
    new Map(summarizeRun(run).cases.map((totals) => [totals.caseId, totals]))
  );
  const ids = new Set(summaries.flatMap((summary) => [...summary.keys()]));
  return [
    ["case", ...runs.map(({ id, model = id }) => model)],
    ...Array.from(ids, (id) => [id, ...summaries.map((summary) => formatCell(summary.get(id)))]),
  ];
}

function formatCell(totals: CaseTotals | undefined): string {
  if (!totals) return "";
  const { score, cost } = totals;
  return `${getMark(totals)} ${formatPassed(totals)}, ${formatScore(score)}, ${formatCost(cost)}`;
}

function getMark({ passed, failed }: Pick<CaseTotals, "passed" | "failed">): string {
  if (failed > 0) return "✗";
  return passed > 0 ? "✓" : "–";
}

/** Formats the reasons of the failures, the robustness and the totals of an evaluation. */
function formatEnd(run: EvalRun, hasTitle: boolean, { style, columns }: TableOptions): string {
  const failures = run.results.filter(({ outcome }) => outcome === "failed")
    .flatMap(formatFailures);
  const lines = [
    ...(failures.length === 0 ? [] : ["", ...failures]),
    ...(run.seeds ? ["", ...formatRobustness(run)] : []),
    "",
    (hasTitle ? `${run.model ?? run.id}: ` : "") + formatTotals(run),
  ];
  return lines.map((line) => {
    const wrapped = columns === Infinity ? line : wrapText(line, columns).join("\n");
    return `${wrapped.replace(/^✗/, style.error)}\n`;
  }).join("");
}

/** Formats the metrics of a result that did not pass, one line each. */
export function formatFailures({ caseId, repetition, scores }: CaseResult): string[] {
  return scores.filter(({ passed }) => !passed).map(({ metric, reason = "" }) => {
    const run = repetition > 1 ? `${caseId} (${repetition})` : caseId;
    // The reports have the rest, such as the output of tests.
    const [first = ""] = toPlainText(reason).trim().split("\n");
    const text = toOneLine(`${metric}: ${first}`).replace(/:$/, "");
    return `✗ ${run}: ${truncateToWidth(text, MAX_REASON)}`;
  });
}

function formatRobustness(run: EvalRun): string[] {
  return calculateRobustness(run).map(({ caseId, passed, total, interval, failedSeeds }) => {
    const range = `${interval.low.toFixed(2)} to ${interval.high.toFixed(2)}`;
    const failed = failedSeeds.length === 0
      ? ""
      : `; repeat the failures with --chaos ${failedSeeds.join(",")} --filter ${caseId}`;
    return `${caseId} passes ${passed} of ${total} seeds (95 %: ${range})${failed}`;
  });
}

/** Formats the totals of an evaluation, such as `12 of 14 runs passed · score 0.93 · $0.05 · 8,210 tokens · 41.0 s`. */
export function formatTotals(run: EvalRun): string {
  const { passed, failed, missing, score, cost, tokens, durationMs } = summarizeRun(run);
  return [
    `${passed} of ${passed + failed} runs passed`,
    ...(missing > 0 ? [`${missing} are missing`] : []),
    `score ${formatScore(score)}`,
    formatCost(cost),
    `${tokens.toLocaleString("en-US")} tokens`,
    formatDuration(durationMs),
  ].join(" · ");
}
