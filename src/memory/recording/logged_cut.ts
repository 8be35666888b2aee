/**
 * The compaction of a path.
 *
 * @module
 */

import type { SessionEntry } from "../../core/sessions/session_entry.ts";
import type { ContextCut, CutMessages } from "../context/compaction.ts";
import type { LoggedHistory } from "./logged_history.ts";

/** A compaction, with its position in the history. */
export interface LoggedCut extends CutMessages {
  /** The cut as positions in the history. */
  readonly cut: ContextCut;
}

/**
 * Finds the last compaction of a path in its history. One end of it may be lost, since the entry has the length, which is
 * then that of the other messages and the lost one.
 */
export function findLoggedCut(
  path: readonly SessionEntry[],
  { messages, entryIds }: LoggedHistory,
): LoggedCut | undefined {
  const position = path.findLastIndex((entry) =>
    entry.type === "compaction" && entry.droppedCount > 0
  );
  const compaction = path[position];
  if (compaction?.type !== "compaction") return undefined;
  const { firstDroppedId, lastDroppedId, droppedCount, summary, isIncomplete } = compaction;
  const start = entryIds.indexOf(firstDroppedId ?? "");
  const end = entryIds.indexOf(lastDroppedId ?? "");
  if (start < 0 && end < 0) return undefined;
  const from = start < 0 ? Math.max(0, end - droppedCount + 2) : start;
  const to = end < 0 ? start + droppedCount - 1 : end + 1;
  const [first, last] = [messages[from], messages[to - 1]];
  if (!first || !last || from >= to) return undefined;
  const { newestId = path.slice(0, position).findLast(({ type }) => type === "message")?.id } =
    compaction;
  const newest = messages[entryIds.indexOf(newestId ?? "")];
  const pinnedIds = new Set<string | null>(compaction.pinnedIds);
  const part = messages.slice(from, to).map((message, index) => ({
    message,
    position: from + index,
  }));
  const pinned = part.filter(({ position }) => pinnedIds.has(entryIds[position] ?? null));
  const content = {
    ...(summary !== undefined && { summary }),
    ...(isIncomplete && { isIncomplete }),
  };
  const ids = {
    ...(first.id !== undefined && { firstId: first.id }),
    ...(last.id !== undefined && { lastId: last.id }),
    ...(pinned.length > 0 && {
      pinned: pinned.map(({ message, position }) => message.id ?? position),
    }),
  };
  const cut = { from, to, ...ids, ...content };
  return { first, last, newest, pinned: pinned.map(({ message }) => message), ...content, cut };
}
