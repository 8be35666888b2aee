/**
 * Token usage by turn and in sum.
 *
 * @module
 */

import { addCost, addUsage } from "../../../mod.ts";
import { formatNumber } from "../format_number.ts";
import type { Line } from "../line/line.ts";
import { getLineWidth, padLine, trimLineEnd, truncateLine } from "../line/line_width.ts";
import { toOneLine } from "../plain_text.ts";
import { truncateToWidth } from "../text_width.ts";
import type { Display } from "../theme/display.ts";
import { formatCost, formatDuration } from "../usage_line.ts";
import { toVisibleText } from "../visible_text.ts";
import type { EarlierTurns, TurnUsage } from "./turn_usage.ts";

/** A column of the table. */
interface UsageColumn {
  readonly title: string;
  readonly format: (turn: TurnUsage) => string;
}

const FIGURES: readonly UsageColumn[] = [
  { title: "input", format: ({ usage }) => formatNumber(usage.input + usage.cacheWrite) },
  { title: "cached", format: ({ usage }) => formatNumber(usage.cacheRead) },
  { title: "output", format: ({ usage }) => formatNumber(usage.output) },
  { title: "cost", format: ({ cost }) => formatCost(cost) },
  { title: "time", format: ({ durationMs }) => formatDuration(durationMs) },
];

/** Titles of the columns that a narrow terminal omits, in this order. */
const OMITTED = ["time", "cached", "input", "output"];

/** Number of UTF-16 code units of a label that is looked at: more than a terminal has columns. */
const MAX_LABEL = 1_000;

/** Fewest columns of the label of a turn. */
const MIN_LABEL = 8;

/** Most columns of the label of a turn, since the width of a terminal that only writes lines is not known. */
const MAX_LABEL_COLUMNS = 60;

/** Columns between the columns of the table. */
const GAP = "  ";

/** Options for `formatUsageTable()`. */
export interface UsageTableOptions {
  /** Columns of the terminal. */
  readonly columns: number;
  /** How the output shows lines. */
  readonly display: Display;
  /** Maximum number of turns; one row has the sum of the earlier ones. Default: 50. */
  readonly maxTurns?: number | undefined;
  /** Turns before the given ones. Default: none. */
  readonly before?: EarlierTurns | undefined;
}

/** Formats a table with a row for each turn and one for their sum. */
export function formatUsageTable(
  turns: readonly TurnUsage[],
  { columns, display: { symbols }, maxTurns = 50, before }: UsageTableOptions,
): Line[] {
  const beforeCount = before?.count ?? 0;
  const all = before && beforeCount > 0 ? [before.usage, ...turns] : turns;
  const sum = sumUsage(all, "sum");
  if (!sum) return [[{ text: "no usage yet", role: "faint" }]];
  const recent = turns.slice(-maxTurns);
  const earlierCount = beforeCount + turns.length - recent.length;
  const earlier = sumUsage(
    all.slice(0, all.length - recent.length),
    `${formatNumber(earlierCount)} earlier`,
  );
  const rows = [...(earlier ? [earlier] : []), ...recent, sum];
  const figures = selectColumns(rows, columns);
  const labels = rows.map(({ label }) => toOneLine(toVisibleText(label.slice(0, MAX_LABEL))));
  const widths = figures.map((column) => getColumnWidth(column, rows));
  const used = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const labelWidth = Math.min(
    Math.max(...labels.map((text) => getLineWidth([{ text }])), "turn".length),
    Math.max(Math.min(columns - used, MAX_LABEL_COLUMNS), MIN_LABEL),
  );
  const formatRow = (
    label: string,
    cells: readonly string[],
    style: { readonly role?: "faint"; readonly bold?: true },
  ): Line => {
    const line = [
      ...padLine([{ text: truncateToWidth(label, labelWidth, symbols.ellipsis), ...style }], {
        columns: labelWidth,
      }),
      ...cells.flatMap((text, index) => [
        { text: GAP },
        ...padLine([{ text, ...style }], { columns: widths[index] ?? 0, align: "right" }),
      ]),
    ];
    return truncateLine(trimLineEnd(line), { columns, ellipsis: symbols.ellipsis });
  };
  return [
    formatRow("turn", figures.map(({ title }) => title), { role: "faint" }),
    ...rows.map((row, index) =>
      formatRow(
        labels[index] ?? "",
        figures.map(({ format }) => format(row)),
        row === sum ? { bold: true } : {},
      )
    ),
  ];
}

/** Returns the sum of turns with a label; `undefined` without turns. */
function sumUsage(turns: readonly TurnUsage[], label: string): TurnUsage | undefined {
  const [first, ...others] = turns;
  if (!first) return undefined;
  const sum = others.reduce((total, turn) => ({
    label,
    usage: addUsage(total.usage, turn.usage),
    cost: addCost(total.cost, turn.cost),
    durationMs: total.durationMs + turn.durationMs,
  }), first);
  return { ...sum, label };
}

/** Returns the columns that leave some space for the label. */
function selectColumns(rows: readonly TurnUsage[], columns: number): UsageColumn[] {
  let selected = [...FIGURES];
  for (const title of OMITTED) {
    const used = selected.reduce(
      (sum, column) => sum + getColumnWidth(column, rows) + GAP.length,
      0,
    );
    if (used + MIN_LABEL <= columns) return selected;
    selected = selected.filter((column) => column.title !== title);
  }
  return selected;
}

function getColumnWidth({ title, format }: UsageColumn, rows: readonly TurnUsage[]): number {
  return Math.max(title.length, ...rows.map((row) => format(row).length));
}
