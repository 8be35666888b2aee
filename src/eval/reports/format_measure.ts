/**
 * Formats the measures of reports.
 *
 * @module
 */

import type { RunTotals } from "./summarize_run.ts";

/** Formats a cost in US dollars, such as `$0.0123`. */
export function formatCost(cost: number | null): string {
  return cost === null ? "unknown" : cost === 0 ? "$0" : `$${cost.toFixed(4)}`;
}

/** Formats a duration, such as `320 ms` or `1.5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 90) return `${seconds.toFixed(1)} s`;
  return seconds < 5_400 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}

/**
 * Formats the runs that passed, such as `1 of 1`; of several ones with the confidence interval of their rate, such as
 * `3 of 5 (95 %: 23–88 %)`.
 */
export function formatPassed(
  { passed, failed, interval }: Pick<RunTotals, "passed" | "failed" | "interval">,
): string {
  const total = passed + failed;
  const text = `${passed} of ${total}`;
  if (total < 2) return text;
  const [low, high] = [interval.low, interval.high].map((rate) => Math.round(rate * 100));
  return `${text} (95 %: ${low}–${high} %)`;
}

/** Formats a score from 0 to 1. */
export function formatScore(score: number | undefined): string {
  return score === undefined ? "–" : score.toFixed(2);
}

/** One formatter for all numbers: `toLocaleString()` creates one in each call. */
const NUMBERS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Formats a number with separators. */
export function formatCount(count: number): string {
  return NUMBERS.format(count);
}

/** Formats a time as `2026-08-22 10:15:00 UTC`. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
