/**
 * Reports for comments on pull requests: Markdown.
 *
 * @module
 */

import {
  compareResults,
  type MetricComparison,
  selectChanges,
} from "../results/compare_results.ts";
import type { CaseResult } from "../run/case_result.ts";
import {
  formatCost,
  formatCount,
  formatDuration,
  formatPassed,
  formatScore,
} from "./format_measure.ts";
import { describeFailures, indexCases, listModels, type ReportRun } from "./report_run.ts";
import { type CaseTotals, type RunSummary, summarizeRun } from "./summarize_run.ts";

/** Options for reports. */
export interface ReportOptions {
  /** The evaluation with which this one is compared. Default: none. */
  readonly baseline?: ReportRun | undefined;
}

/** Characters of a text in the details of a failure. */
const MAX_TEXT = 2_000;

/** Characters of a table of cases, and of the details of all failures: a comment on GitHub has at most 65,536. */
const MAX_SECTION = 20_000;

/**
 * Formats an evaluation as Markdown: its totals, a table of the cases, the changes since a baseline, and the details of the
 * runs that failed. Texts of models cannot leave their table cell or code block. Long tables and details are cut, so that
 * the report fits into a comment on GitHub; the cases that failed are then the first ones.
 *
 * @example
 * ```ts
 * import { formatMarkdownReport } from "@swink/agent/eval";
 *
 * formatMarkdownReport({ setId: "greetings", results: [] }); // "# Evaluation of greetings\n…"
 * ```
 */
export function formatMarkdownReport(run: ReportRun, { baseline }: ReportOptions = {}): string {
  const summary = summarizeRun(run);
  const sections = [
    `# Evaluation of ${escapeText(run.setId)}`,
    formatTotals(run, summary),
    formatCases(run, summary),
    ...(baseline ? [formatChanges(run, baseline)] : []),
    ...formatFailures(run.results),
    ...(run.damage ?? []).map((damage) => `> Damaged: ${escapeText(damage)}`),
  ];
  return `${sections.join("\n\n")}\n`;
}

function formatTotals(run: ReportRun, summary: RunSummary): string {
  const { passed, failed, skipped, missing, score, cost, tokens, durationMs } = summary;
  const counts = [`${passed} passed`, `${failed} failed`];
  if (skipped > 0) counts.push(`${skipped} skipped`);
  if (missing > 0) counts.push(`${missing} missing`);
  const measures = [
    `score ${formatScore(score)}`,
    `cost ${formatCost(cost)}`,
    `${formatCount(tokens)} tokens`,
    formatDuration(durationMs),
  ];
  const models = listModels(run).map(escapeText).join(", ");
  const line = `**${counts.join(", ")}** · ${measures.join(" · ")}`;
  return models === "" ? line : `${line} · ${models}`;
}

function formatCases(run: ReportRun, { cases }: RunSummary): string {
  const known = indexCases(run);
  const format = (totals: CaseTotals) =>
    formatRow(formatCase(totals, known.get(totals.caseId)?.description));
  const all = cases.map(format);
  const { kept, omitted } = fitSection(all);
  const rows = omitted === 0 ? kept : fitSection([...cases].sort(compareFailed).map(format)).kept;
  const table = formatTable([
    ["", "Case", "Passed", "Score", "Cost", "Time"],
    ["---", "---", "--:", "--:", "--:", "--:"],
  ]);
  return [[table, ...rows].join("\n"), ...describeOmitted(all.length - rows.length, "cases")]
    .join("\n\n");
}

function compareFailed(left: CaseTotals, right: CaseTotals): number {
  return Number(right.failed > 0) - Number(left.failed > 0);
}

/** Returns the first texts that fit into a section, and the number of the others. */
function fitSection(
  texts: readonly string[],
): { readonly kept: readonly string[]; readonly omitted: number } {
  let length = 0;
  const end = texts.findIndex((text) => (length += text.length + 2) > MAX_SECTION);
  const kept = end < 0 ? texts : texts.slice(0, end);
  return { kept, omitted: texts.length - kept.length };
}

function describeOmitted(count: number, subject: string): string[] {
  return count === 0 ? [] : [`… and ${count} more ${subject}; the web page has all.`];
}

function formatCase(totals: CaseTotals, description: string | undefined): string[] {
  const { caseId, passed, failed, score, cost, durationMs } = totals;
  const name = description === undefined
    ? escapeText(caseId)
    : `${escapeText(caseId)}: ${escapeText(description)}`;
  return [
    failed > 0 ? "❌" : passed > 0 ? "✅" : "⏭️",
    name,
    formatPassed(totals),
    formatScore(score),
    formatCost(cost),
    formatDuration(durationMs),
  ];
}

function formatChanges(run: ReportRun, baseline: ReportRun): string {
  const { changed, added } = selectChanges(compareResults(baseline, run));
  const title = `## Changes${baseline.id === undefined ? "" : ` since ${escapeText(baseline.id)}`}`;
  const note = added === 0 ? [] : [`${added} metrics are new.`];
  if (changed.length === 0) return [title, "No metric has changed.", ...note].join("\n\n");
  const { kept, omitted } = fitSection(
    changed.map((comparison) => formatRow(formatChange(comparison))),
  );
  const table = formatTable([
    ["Case", "Metric", "Change", "Before", "After", "p"],
    ["---", "---", "---", "--:", "--:", "--:"],
  ]);
  const rows = [table, ...kept].join("\n");
  return [title, rows, ...describeOmitted(omitted, "changes"), ...note].join("\n\n");
}

function formatChange(comparison: MetricComparison): string[] {
  const { caseId, metric, change, before, after, pValue } = comparison;
  return [
    escapeText(caseId),
    escapeText(metric),
    change,
    formatScore(before),
    formatScore(after),
    pValue === undefined ? "–" : pValue.toFixed(3),
  ];
}

function formatFailures(results: readonly CaseResult[]): string[] {
  const failed = results.filter(({ outcome }) => outcome === "failed");
  if (failed.length === 0) return [];
  const { kept, omitted } = fitSection(failed.map(formatFailure));
  return ["## Failures", ...kept, ...describeOmitted(omitted, "failures")];
}

function formatFailure(result: CaseResult): string {
  const { caseId, repetition, seed, trajectory } = result;
  const calls = (trajectory?.calls ?? []).map(({ tool, arguments: args, outcome }) =>
    `${tool} ${JSON.stringify(args)} → ${outcome}`
  );
  const answer = trajectory?.response ?? "";
  return [
    `### ${escapeText(caseId)} (${repetition}, seed ${seed})`,
    ...describeFailures(result).map((failure) => formatCode(failure)),
    ...(calls.length === 0 ? [] : ["Calls:", formatCode(calls.join("\n"))]),
    ...(answer === "" ? [] : ["Answer:", formatCode(answer)]),
  ].join("\n\n");
}

function formatTable(rows: readonly (readonly string[])[]): string {
  return rows.map(formatRow).join("\n");
}

function formatRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Formats a text as a code block, whose fence is longer than any in the text. */
function formatCode(text: string): string {
  const plain = text.toWellFormed().replaceAll(/(?![\t\n])\p{Cc}/gu, "\ufffd");
  const cut = plain.length > MAX_TEXT ? `${plain.slice(0, MAX_TEXT)}…` : plain;
  const longest = Math.max(2, ...(cut.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${cut}\n${fence}`;
}

/** Escapes a text for one line of Markdown. */
function escapeText(text: string): string {
  return text.toWellFormed().replaceAll(/[\s\p{Cc}]+/gu, " ")
    .replaceAll(/[\\`*_{}[\]()#!|~]/g, "\\$&")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
