/**
 * Charts of the turns of a session, as SVG without scripts.
 *
 * @module
 */

import { groupTurns, type TurnMeasures } from "./turn_measures.ts";

/** Bars that fit on a page; the turns of a longer session are grouped. */
const MAX_BARS = 160;
const HEIGHT = 60;
const BAR_WIDTH = 10;
const GAP = 2;

/** A part of a bar. */
interface BarPart {
  /** Class of its color. */
  readonly kind: "input" | "cached" | "output" | "cost" | "time";
  /** Its amount. */
  readonly amount: number;
}

interface Chart {
  /** Its heading, with the sum. */
  readonly caption: (turns: readonly TurnMeasures[]) => string;
  /** The parts of a bar, from the bottom. */
  readonly parts: (turn: TurnMeasures) => readonly BarPart[];
  /** Describes a bar. */
  readonly describe: (turn: TurnMeasures) => string;
}

const CHARTS: readonly Chart[] = [
  {
    caption: (turns) =>
      `Tokens: ${formatCount(sum(turns, "input"))} read, ${
        formatCount(sum(turns, "cached"))
      } from the cache, ${formatCount(sum(turns, "output"))} written`,
    parts: ({ input, cached, output }) => [
      { kind: "cached", amount: cached },
      { kind: "input", amount: input },
      { kind: "output", amount: output },
    ],
    describe: ({ input, cached, output }) =>
      `${formatCount(input)} read, ${formatCount(cached)} from the cache, ${
        formatCount(output)
      } written`,
  },
  {
    caption: (turns) => `Cost: ${formatCost(sum(turns, "cost"))}`,
    parts: ({ cost }) => [{ kind: "cost", amount: cost }],
    describe: ({ cost }) => formatCost(cost),
  },
  {
    caption: (turns) => `Time: ${formatTime(sum(turns, "durationMs"))}`,
    parts: ({ durationMs }) => [{ kind: "time", amount: durationMs }],
    describe: ({ durationMs }) => formatTime(durationMs),
  },
];

/** Renders a chart each for tokens, cost and time by turn; none for a measure that is 0 in all turns. */
export function renderTurnCharts(turns: readonly TurnMeasures[]): string {
  const bars = groupTurns(turns, MAX_BARS);
  const charts = CHARTS.map((chart) => renderChart(chart, turns, bars)).join("");
  return charts === "" ? "" : `<section class="charts">${charts}</section>`;
}

function renderChart(
  { caption, parts, describe }: Chart,
  turns: readonly TurnMeasures[],
  bars: readonly TurnMeasures[],
): string {
  const heights = bars.map((bar) => parts(bar).reduce((total, { amount }) => total + amount, 0));
  const highest = heights.reduce((a, b) => Math.max(a, b), 0);
  if (highest === 0) return "";
  const columns = bars.map((bar, index) => {
    const title = `<title>${formatTurns(bar)}: ${describe(bar)}</title>`;
    return `<g>${title}${renderBar(parts(bar), { index, highest })}</g>`;
  });
  const heading = `${caption(turns)}, by turn`;
  const width = bars.length * BAR_WIDTH;
  return `<figure><figcaption>${heading}</figcaption>` +
    `<svg role="img" aria-label="${heading}" viewBox="0 0 ${width} ${HEIGHT}" ` +
    `width="${width}" height="${HEIGHT}">${columns.join("")}</svg></figure>`;
}

function renderBar(
  parts: readonly BarPart[],
  { index, highest }: { readonly index: number; readonly highest: number },
): string {
  // The area of the complete column, so that a low bar is described, too.
  const x = index * BAR_WIDTH;
  let bottom = HEIGHT;
  let bar = `<rect class="column" x="${x}" y="0" width="${BAR_WIDTH}" height="${HEIGHT}"/>`;
  for (const { kind, amount } of parts) {
    const height = (amount / highest) * HEIGHT;
    if (height === 0) continue;
    bottom -= height;
    bar += `<rect class="${kind}" x="${x}" y="${round(bottom)}" ` +
      `width="${BAR_WIDTH - GAP}" height="${round(height)}"/>`;
  }
  return bar;
}

function round(value: number): number {
  return Number(value.toFixed(2));
}

type Measure = "input" | "cached" | "output" | "cost" | "durationMs";

function sum(turns: readonly TurnMeasures[], measure: Measure): number {
  return turns.reduce((total, turn) => total + turn[measure], 0);
}

function formatTurns({ first, last }: TurnMeasures): string {
  return first === last ? `Turn ${first}` : `Turns ${first}–${last}`;
}

function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

function formatCost(dollars: number): string {
  return `$${dollars.toFixed(4)}`;
}

function formatTime(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(1)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
