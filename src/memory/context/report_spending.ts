/**
 * The spending in reports about compactions.
 *
 * @module
 */

import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import { addReportedSpending } from "../../core/models/valid_usage.ts";

/** Returns a report with the spending of an earlier one that no request has emitted. */
export function addSpent(
  report: CompactionReport,
  earlier: CompactionReport | undefined,
): CompactionReport {
  return { ...report, ...addReportedSpending(earlier ?? {}, report) };
}

/** Returns a report of what an earlier one has spent on a cut that does not apply any longer; `undefined` for nothing. */
export function toSpendingReport(earlier: CompactionReport): CompactionReport | undefined {
  const { usage, tokensBefore } = earlier;
  return usage && addSpent({ droppedCount: 0, tokensBefore, tokensAfter: tokensBefore }, earlier);
}

/** Returns a report without its spending, which is counted elsewhere. */
export function omitSpending(
  { usage: _usage, cost: _cost, ...rest }: CompactionReport,
): CompactionReport {
  return rest;
}
