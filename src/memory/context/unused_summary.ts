/**
 * The results of summaries that no request has.
 *
 * @module
 */

import type { SummaryResult } from "./compaction.ts";

/** Returns the spending of a summary that an abort has made useless. */
export function toAborted({ summary: _summary, ...spent }: SummaryResult): SummaryResult {
  return { ...spent, problem: "No summary was written: the run was aborted" };
}

/** Returns the spending of a summary that is too long; one that was not written is returned unchanged. */
export function omitSummary(written: SummaryResult, fits = false): SummaryResult {
  const { summary, ...spent } = written;
  if (summary === undefined) return written;
  const reason = fits
    ? "it is not shorter than the messages that it would replace"
    : "it does not fit into the context window";
  return { ...spent, problem: `The summary was not used, since ${reason}` };
}
