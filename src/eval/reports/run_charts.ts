/**
 * Charts of scores, cost and time over several evaluations, as SVG without scripts.
 *
 * @module
 */

import { escapeHtml } from "../../core/text/escape_html.ts";
import { formatCost, formatDuration, formatScore, formatTime } from "./format_measure.ts";
import type { ReportRun } from "./report_run.ts";
import { type RunSummary, summarizeRun } from "./summarize_run.ts";

/** The evaluations of a chart; older ones are omitted. */
const MAX_BARS = 50;
const WIDTH = 200;
const HEIGHT = 60;

interface Chart {
  readonly caption: string;
  /** The height of a bar; `null` for none. */
  readonly measure: (summary: RunSummary) => number | null;
  readonly format: (value: number) => string;
  /** The measure of a bar of the complete height. Default: the highest bar. */
  readonly maximum?: number;
}

const CHARTS: readonly Chart[] = [
  {
    caption: "Runs that passed",
    measure: ({ passed, failed }) => passed + failed === 0 ? null : passed / (passed + failed),
    format: (value) => `${Math.round(value * 100)} %`,
    maximum: 1,
  },
  {
    caption: "Mean score",
    measure: ({ score }) => score ?? null,
    format: formatScore,
    maximum: 1,
  },
  { caption: "Cost", measure: ({ cost }) => cost, format: formatCost },
  { caption: "Time", measure: ({ durationMs }) => durationMs, format: formatDuration },
];

/** Renders a chart for each measure, with a bar for each evaluation, the last one for `run`; empty for a single one. */
export function renderRunCharts(run: ReportRun, history: readonly ReportRun[]): string {
  const earlier = history.filter(({ id }) => id !== run.id);
  const runs = [...earlier, run].slice(-MAX_BARS);
  if (runs.length < 2) return "";
  const bars = runs.map((shown) => ({ run: shown, summary: summarizeRun(shown) }));
  const charts = CHARTS.map((chart) => renderChart(chart, bars)).join("");
  return `<section><h2>Over ${runs.length} evaluations</h2><div class="charts">${charts}</div></section>`;
}

interface Bar {
  readonly run: ReportRun;
  readonly summary: RunSummary;
}

function renderChart({ caption, measure, format, maximum }: Chart, bars: readonly Bar[]): string {
  const values = bars.map(({ summary }) => measure(summary));
  const highest = maximum ?? values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const columns = values.map((value, index) => {
    const label = value === null ? "unknown" : format(value);
    const title = `${describeRun(bars[index]?.run)}: ${label}`;
    const height = value === null || highest === 0 ? 0 : (value / highest) * HEIGHT;
    return renderColumn({ title, height, index, count: bars.length });
  });
  const last = values.at(-1);
  const heading = `${caption}: ${last === null || last === undefined ? "unknown" : format(last)}`;
  return `<figure><svg role="img" aria-label="${escapeHtml(heading)}" ` +
    `viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">${columns.join("")}</svg>` +
    `<figcaption>${escapeHtml(heading)}</figcaption></figure>`;
}

interface Column {
  readonly title: string;
  readonly height: number;
  readonly index: number;
  readonly count: number;
}

function renderColumn({ title, height, index, count }: Column): string {
  const width = WIDTH / count;
  const x = round(index * width);
  const kind = index === count - 1 ? "bar current" : "bar";
  const bar = `<rect class="${kind}" x="${x}" y="${round(HEIGHT - height)}" ` +
    `width="${round(width * 0.85)}" height="${round(height)}"/>`;
  const area = `<rect class="column" x="${x}" y="0" width="${round(width)}" height="${HEIGHT}"/>`;
  return `<g><title>${escapeHtml(title)}</title>${area}${bar}</g>`;
}

function describeRun(run: ReportRun | undefined): string {
  const { id, startedAt } = run ?? {};
  return [id ?? "this evaluation", ...(startedAt === undefined ? [] : [formatTime(startedAt)])]
    .join(", ");
}

function round(value: number): number {
  return Number(value.toFixed(2));
}
