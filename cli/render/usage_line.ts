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
export function formatUsage({ turns, usage, cost, durationMs }: RunTotals): string {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const tokens = input + usage.output;
  const cached = usage.cacheRead > 0 ? ` (${formatNumber(usage.cacheRead)} cached)` : "";
  return [
    pluralize(turns, "turn"),
    // A failed run may have received no reply.
    ...(tokens === 0 ? [] : [
      `${pluralize(input, "token")} in${cached}, ${formatNumber(usage.output)} out`,
      formatCost(cost),
    ]),
    formatDuration(durationMs),
  ].join(" · ");
}

/** Formats a duration, such as `4.1 s`, `2 min 5 s` or `1 h 10 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${seconds.toFixed(1)} s`;
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a cost in US dollars. */
export function formatCost({ total }: Cost): string {
  if (total === null) return "price unknown";
  return `$${total.toFixed(total < 1 ? 4 : 2)}`;
}
