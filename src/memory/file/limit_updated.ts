/**
 * The times of sessions and of their logs.
 *
 * @module
 */

import type { SessionSummary } from "../../core/sessions/session.ts";

/** Maximum difference of the clock of entries and that of files, in milliseconds; the latter has ticks of some 10 ms. */
const CLOCK_TOLERANCE_MS = 1_000;

/** Returns the latest time of an entry in a log that was last modified at a time. */
export function toLatest(modified: number): number {
  return modified + CLOCK_TOLERANCE_MS;
}

/**
 * Returns a summary whose `updated` is not later than its log, so that the order of the logs bounds that of the sessions.
 * It is later if a clock was wrong, or if another program has set the time of the file.
 */
export function limitUpdated(summary: SessionSummary, modified: number): SessionSummary {
  const latest = toLatest(modified);
  return summary.updated <= latest ? summary : { ...summary, updated: latest };
}
