/**
 * The entry about a compaction.
 *
 * @module
 */

import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { CompactionEntry } from "../../core/sessions/session_entry.ts";
import type { CutMessages } from "../context/compaction.ts";
import type { EntryRange } from "./logged_path.ts";

/** Creates the entry about a compaction from its report, its cut, and the entries of the cut, as far as they are known. */
export function createCompactionEntry(
  { droppedCount, tokensBefore, tokensAfter, usage, cost }: CompactionReport,
  { cut, range }: { readonly cut: CutMessages | undefined; readonly range: EntryRange | undefined },
): CompactionEntry {
  const { newestId = null, pinnedIds = [] } = range ?? {};
  return {
    type: "compaction",
    firstDroppedId: range?.firstId ?? null,
    lastDroppedId: range?.lastId ?? null,
    ...(newestId !== null && { newestId }),
    ...(pinnedIds.length > 0 && { pinnedIds }),
    droppedCount,
    tokensBefore,
    tokensAfter,
    ...(cut?.summary !== undefined && { summary: cut.summary }),
    ...(cut?.isIncomplete && { isIncomplete: true }),
    ...(usage !== undefined && { usage }),
    ...(cost !== undefined && { cost }),
  };
}

/** Returns the cut of a transform that the session does not know. */
export function getReportedCut(
  { droppedMessages = [], summary }: CompactionReport,
): CutMessages | undefined {
  const [first, last] = [droppedMessages[0], droppedMessages.at(-1)];
  return first && last && { first, last, ...(summary !== undefined && { summary }) };
}

/** Whether two reports are of the same compaction; one whose spending was counted elsewhere has none. */
export function isSameCompaction(first: CompactionReport, second: CompactionReport): boolean {
  return isJsonEqual(omitSpending(first), omitSpending(second));
}

function omitSpending({ usage: _usage, cost: _cost, ...report }: CompactionReport): object {
  return report;
}
