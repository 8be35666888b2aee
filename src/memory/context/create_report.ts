/**
 * Creates the report of a compaction.
 *
 * @module
 */

import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage, LlmMessage } from "../../core/messages/message.ts";
import type { AppliedCut } from "./applied_cut.ts";
import type { SummaryResult } from "./compaction.ts";
import type { MeasuredRequest } from "./measured_request.ts";
import { listOmitted } from "./omitted_messages.ts";

/** The outcome of a compaction. */
export interface CompactionOutcome {
  /** The outcome of the summary; `undefined` if none was requested. */
  readonly written: SummaryResult | undefined;
  /** The cut. Default: none, since the summary failed. */
  readonly cut?: AppliedCut;
  /** Tokens of the request with the cut. Default: those without it. */
  readonly tokensAfter?: number;
}

/** Creates the report of a cut, or of a summary that failed. */
export function createReport(
  { messages, measure }: MeasuredRequest,
  { written, cut, tokensAfter }: CompactionOutcome,
): CompactionReport {
  const tokensBefore = Math.round(measure.used);
  const { problem, usage, cost } = written ?? {};
  return {
    ...(cut ? listDropped(messages, cut) : { droppedCount: 0 }),
    tokensBefore,
    tokensAfter: tokensAfter ?? tokensBefore,
    ...(cut?.summary !== undefined && { summary: cut.summary }),
    ...(problem !== undefined && { problem }),
    ...(usage !== undefined && { usage }),
    ...(cost !== undefined && { cost }),
  };
}

function listDropped(
  messages: readonly AgentMessage[],
  cut: AppliedCut,
): Pick<CompactionReport, "droppedCount" | "droppedMessages"> {
  const dropped = listOmitted(messages, cut);
  const droppedMessages = dropped.filter((message): message is LlmMessage =>
    message.role !== "custom"
  );
  return { droppedCount: dropped.length, droppedMessages };
}
