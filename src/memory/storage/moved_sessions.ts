/**
 * Sessions of a storage that were written since the first page of a list.
 *
 * @module
 */

import type { SessionFilter, SessionSummary } from "../../core/session.ts";
import { decodeLine } from "../store/jsonl.ts";
import { type FindUpdated, type ListedSession, listSnapshot } from "../store/list_snapshot.ts";
import type { EntryStorage } from "./entry_storage.ts";

/** Number of sessions that are listed at a time. */
const LIST_BATCH_SIZE = 100;

/** Number of lines that are read at a time. */
const BATCH_SIZE = 32;

/** Sessions that were written. */
export interface MovedSessions {
  /** The ids of all of them. */
  readonly ids: ReadonlySet<string>;
  /** Those that existed, at their positions at the time, in their order. */
  readonly sessions: readonly ListedSession[];
}

/**
 * Lists the sessions that were written after a time, in milliseconds since the epoch. One that is written again meanwhile
 * moves to the beginning of the list, which is listed again until it has no other sessions.
 */
export async function listMoved(
  storage: EntryStorage,
  filter: SessionFilter,
  snapshotTime: number,
): Promise<MovedSessions> {
  const moved = new Map<string, SessionSummary>();
  for (let time = snapshotTime;;) {
    const written = await listWritten(storage, filter, time);
    const count = moved.size;
    for (const summary of written) moved.set(summary.id, summary);
    if (moved.size === count) break;
    time = (written[0]?.updated ?? time) - 1;
  }
  const sessions = await listSnapshot(moved.values(), snapshotTime, findUpdated(storage));
  return { ids: new Set(moved.keys()), sessions };
}

async function listWritten(
  storage: EntryStorage,
  filter: SessionFilter,
  time: number,
): Promise<readonly SessionSummary[]> {
  const written: SessionSummary[] = [];
  for (;;) {
    const last = written.at(-1);
    const position = last && { after: { updated: last.updated, id: last.id } };
    const batch = await storage.list({ ...filter, limit: LIST_BATCH_SIZE, ...position });
    const newer = batch.filter(({ updated }) => updated > time);
    written.push(...newer);
    if (newer.length < LIST_BATCH_SIZE) return written;
  }
}

/** Finds times in the last lines of sessions, since few entries are newer than the first page of a list. */
export function findUpdated(storage: EntryStorage): FindUpdated {
  return async ({ id, entries }, snapshotTime) => {
    for (let to = entries; to > 0; to -= BATCH_SIZE) {
      const from = Math.max(0, to - BATCH_SIZE);
      const positions = Array.from({ length: to - from }, (_, index) => from + index);
      const times = (await storage.readLines(id, positions)).map(readTime);
      const time = times.findLast((time) => time !== undefined && time <= snapshotTime);
      if (time !== undefined) return time;
    }
    return undefined;
  };
}

function readTime(line: string | undefined): number | undefined {
  const decoded = decodeLine(line ?? "");
  return decoded?.type === "referring" ? decoded.entry.timestamp : decoded?.timestamp;
}
