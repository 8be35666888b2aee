/**
 * Turns, tokens, cost and duration of a run, in one line.
 *
 * @module
 */

import type { Cost, Usage } from "../../mod.ts";
import { formatNumber } from "./format_number.ts";
import { pluralize } from "./tool_line.ts";

/** Totals of a run. */
export interface RunTotals {
  /** Number of turns. */
  readonly turns: number;
  /** Token usage. */
  readonly usage: Usage;
  /** Cost in US dollars. */
  readonly cost: Cost;
  /** Duration in milliseconds. */
  readonly durationMs: number;
}

/** Formats totals, such as `3 turns · 8,210 tokens in (6,000 cached), 412 out · $0.0217 · 4.1 s`. */
export function formatUsage({ turns, ...spending }: RunTotals): string {
  return [pluralize(turns, "turn"), ...listSpending(spending)].join(" · ");
}

/** Formats tokens, cost and duration, such as `8,210 tokens in (6,000 cached), 412 out`, `$0.0217` and `4.1 s`. */
function listSpending({ usage, cost, durationMs }: Omit<RunTotals, "turns">): string[] {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const tokens = input + usage.output;
  const cached = usage.cacheRead > 0 ? ` (${formatNumber(usage.cacheRead)} cached)` : "";
  return [
    // A failed run may have received no reply.
    ...(tokens === 0 ? [] : [
      `${pluralize(input, "token")} in${cached}, ${formatNumber(usage.output)} out`,
      formatCost(cost),
    ]),
    formatDuration(durationMs),
  ];
}

/** Formats a duration, such as `4.1 s`, `2 min 5 s` or `1 h 10 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${seconds.toFixed(1)} s`;
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats the duration of something that continues, such as `12 s` or `2 min 5 s`. */
export function formatElapsed(milliseconds: number): string {
  return milliseconds < 60_000
    ? `${Math.floor(milliseconds / 1_000)} s`
    : formatDuration(milliseconds);
}

/** Formats a cost, such as `$0.0217`, or that it is unknown. */
export function formatCost({ total }: Pick<Cost, "total">): string {
  if (total === null) return "price unknown";
  return `$${total.toFixed(total < 1 ? 4 : 2)}`;
}
