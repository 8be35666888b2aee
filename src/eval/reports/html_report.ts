/**
 * Reports for browsers: one self-contained HTML page without scripts, fonts or network requests.
 *
 * @module
 */

import { escapeHtml } from "../../core/text/escape_html.ts";
import type { EvalCase } from "../case/eval_case.ts";
import { compareResults, selectChanges } from "../results/compare_results.ts";
import type { CaseResult } from "../run/case_result.ts";
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPassed,
  formatScore,
  formatTime,
} from "./format_measure.ts";
import type { ReportOptions } from "./markdown_report.ts";
import { PAGE_STYLE } from "./page_style.ts";
import { renderResult } from "./render_trajectory.ts";
import { indexCases, listModels, type ReportRun } from "./report_run.ts";
import { renderRunCharts } from "./run_charts.ts";
import { type CaseTotals, type RunSummary, summarizeRun } from "./summarize_run.ts";

/** Options for `formatHtmlReport()`. */
export interface HtmlReportOptions extends ReportOptions {
  /** Earlier evaluations of the set for the charts, the oldest first. Default: none, and no charts. */
  readonly history?: readonly ReportRun[] | undefined;
}

/**
 * Formats an evaluation as a web page: its totals, charts over earlier evaluations, the changes since a baseline, and the
 * trajectory of each run, call by call. The page needs no other file, runs no script, and its content security policy
 * forbids any; all texts of models and tools are escaped. A page that would be too long omits runs, those that passed first.
 *
 * @example
 * ```ts
 * import { formatHtmlReport } from "@swink/agent/eval";
 *
 * formatHtmlReport({ setId: "greetings", results: [] }); // "<!DOCTYPE html>…"
 * ```
 */
export function formatHtmlReport(
  run: ReportRun,
  { baseline, history = [] }: HtmlReportOptions = {},
): string {
  const summary = summarizeRun(run);
  const cases = indexCases(run);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Evaluation of ${escapeHtml(run.setId)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
${renderHeader(run, summary)}
${renderRunCharts(run, history)}
${baseline ? renderChanges(run, baseline) : ""}
<main>
<h2>Cases</h2>
${renderFilter(summary)}
${renderCases(summary, cases).join("\n")}
</main>
</body>
</html>
`;
}

function renderHeader(run: ReportRun, summary: RunSummary): string {
  const { setId, id, set, startedAt, damage = [] } = run;
  const { passed, failed, skipped, missing, score, cost, tokens, durationMs } = summary;
  const facts = [
    ...(id === undefined ? [] : [id]),
    ...listModels(run),
    ...(startedAt === undefined ? [] : [formatTime(startedAt)]),
  ];
  const totals = [
    ["passed", passed, "passed"],
    ["failed", failed, "failed"],
    ...(skipped > 0 ? [["skipped", skipped, "skipped"]] : []),
    ...(missing > 0 ? [["missing", missing, "failed"]] : []),
    ["mean score", formatScore(score)],
    ["cost", formatCost(cost)],
    ["tokens", formatCount(tokens)],
    ["time", formatDuration(durationMs)],
  ].map(([label, value, kind = ""]) => `<li class="${kind}"><b>${value}</b>${label}</li>`);
  const description = set?.description === undefined ? "" : `<p>${escapeHtml(set.description)}</p>`;
  return `<header><h1>Evaluation of ${escapeHtml(setId)}</h1>${description}` +
    `<ul class="facts">${facts.map((fact) => `<li>${escapeHtml(fact)}</li>`).join("")}</ul>` +
    `<ul class="totals">${totals.join("")}</ul>${
      damage.map((text) => `<p class="damage">${escapeHtml(text)}</p>`).join("")
    }</header>`;
}

function renderChanges(run: ReportRun, baseline: ReportRun): string {
  const { changed, added } = selectChanges(compareResults(baseline, run));
  const rows = changed.map(({ caseId, metric, change, before, after, pValue }) =>
    `<tr><td>${escapeHtml(caseId)}</td><td>${escapeHtml(metric)}</td>` +
    `<td class="${change}">${change}</td><td class="number">${formatScore(before)}</td>` +
    `<td class="number">${formatScore(after)}</td>` +
    `<td class="number">${pValue === undefined ? "–" : pValue.toFixed(3)}</td></tr>`
  );
  const title = `Changes since ${escapeHtml(baseline.id ?? "the baseline")}`;
  const note = added === 0 ? "" : `<p>${added} metrics are new.</p>`;
  if (rows.length === 0) {
    return `<section><h2>${title}</h2><p>No metric has changed.</p>${note}</section>`;
  }
  return `<section><h2>${title}</h2><table><thead><tr><th>Case</th><th>Metric</th><th>Change</th>` +
    `<th class="number">Before</th><th class="number">After</th><th class="number">p</th></tr></thead>` +
    `<tbody>${rows.join("")}</tbody></table>${note}</section>`;
}

/** Renders the buttons that select cases by their outcome; the style sheet hides the others. */
function renderFilter({ cases }: RunSummary): string {
  const failed = cases.filter((totals) => getOutcome(totals) === "failed").length;
  const passed = cases.filter((totals) => getOutcome(totals) === "passed").length;
  const buttons = [
    ["all", `All (${cases.length})`, " checked"],
    ["failed", `Failed (${failed})`, ""],
    ["passed", `Passed (${passed})`, ""],
  ].map(([name, label, checked]) =>
    `<label><input type="radio" name="show" id="show-${name}"${checked}> ${label}</label>`
  );
  return `<div class="filter">${buttons.join("")}</div>`;
}

/** Characters of all runs: a browser cannot show a page of any length, nor can a text have one. */
const MAX_RUNS = 50_000_000;

/** Renders the runs of a page until it is long. */
class RunRenderer {
  #left = MAX_RUNS;

  render(result: CaseResult, userMessages: readonly string[]): string {
    if (this.#left <= 0) {
      return `<p class="facts">The run is omitted, since the page would be too long.</p>`;
    }
    const text = renderResult(result, userMessages);
    this.#left -= text.length;
    return text;
  }
}

/** Renders the cases in their order; of a long page those that failed have their runs first. */
function renderCases(
  { cases }: RunSummary,
  known: ReadonlyMap<string, EvalCase>,
): readonly string[] {
  const renderer = new RunRenderer();
  const render = (totals: CaseTotals) => renderCase(totals, known.get(totals.caseId), renderer);
  const isFailed = (totals: CaseTotals) => getOutcome(totals) === "failed";
  const failed = new Map(cases.filter(isFailed).map((totals) => [totals, render(totals)]));
  return cases.map((totals) => failed.get(totals) ?? render(totals));
}

function renderCase(
  totals: CaseTotals,
  evalCase: EvalCase | undefined,
  renderer: RunRenderer,
): string {
  const { caseId, score, cost, durationMs, results } = totals;
  const { description, userMessages = [] } = evalCase ?? {};
  const outcome = getOutcome(totals);
  const mark = { passed: "✓", failed: "✗", skipped: "–" }[outcome];
  const name = escapeHtml(description === undefined ? caseId : `${caseId}: ${description}`);
  const measures = [
    ...(results.length > 1 ? [`passed ${formatPassed(totals)}`] : []),
    `score ${formatScore(score)}`,
    formatCost(cost),
    formatDuration(durationMs),
  ].join(" · ");
  const bodies = results.map((result) => {
    const title = results.length > 1
      ? `<h2>${escapeHtml(`Repetition ${result.repetition}: ${result.outcome}`)}</h2>`
      : "";
    return title + renderer.render(result, userMessages);
  });
  return `<details class="case ${outcome}" id="case-${escapeHtml(caseId)}"><summary>` +
    `<span class="mark ${outcome}">${mark}</span><span class="name">${name}</span>` +
    `<span class="measures">${escapeHtml(measures)}</span></summary>${bodies.join("")}</details>`;
}

function getOutcome({ passed, failed }: CaseTotals): "passed" | "failed" | "skipped" {
  if (failed > 0) return "failed";
  return passed > 0 ? "passed" : "skipped";
}
