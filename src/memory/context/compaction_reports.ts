/**
 * The reports of compactions, and what the summaries in them have spent.
 *
 * @module
 */

import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage, LlmMessage } from "../../core/messages/message.ts";
import { addReportedSpending } from "../../core/models/valid_usage.ts";
import type { AppliedCut } from "./applied_cut.ts";
import type { SummaryResult } from "./compaction.ts";

/** Returns the part of a report about the messages that a cut omits. */
export function createDropReport(
  messages: readonly AgentMessage[],
  { from, to, pinned }: AppliedCut,
): Pick<CompactionReport, "droppedCount" | "droppedMessages"> {
  const kept = new Set(pinned);
  const dropped = messages.slice(from, to).filter((message) => !kept.has(message));
  const droppedMessages = dropped.filter((message): message is LlmMessage =>
    message.role !== "custom"
  );
  return { droppedCount: dropped.length, droppedMessages };
}

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

/** Returns a report without its spending, which is counted, and with that of the report before, which is not. */
export function omitSpending(
  report: CompactionReport | undefined,
  earlier: CompactionReport | undefined,
): CompactionReport | undefined {
  if (!report) return earlier;
  const { usage: _usage, cost: _cost, ...rest } = report;
  return { ...rest, ...addReportedSpending(earlier ?? {}, {}) };
}

/** Returns the spending of a summary that an abort has made useless. */
export function toAborted({ summary: _summary, ...spent }: SummaryResult): SummaryResult {
  return { ...spent, problem: "No summary was written: the run was aborted" };
}
