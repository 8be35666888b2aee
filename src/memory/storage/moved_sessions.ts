/**
 * Sessions of a storage that were written since the first page of a list.
 *
 * @module
 */

import type { SessionFilter, SessionSummary } from "../../core/session.ts";
import { decodeLine } from "../store/jsonl.ts";
import { type FindUpdated, type ListedSession, listSnapshot } from "../store/list_snapshot.ts";
import type { EntryStorage } from "./entry_storage.ts";

/** Number of sessions or lines that are read at a time. */
const BATCH_SIZE = 32;

/** Sessions that were written. */
export interface MovedSessions {
  /** The ids of all of them. */
  readonly ids: ReadonlySet<string>;
  /** Those that existed, at their positions at the time, in their order. */
  readonly sessions: readonly ListedSession[];
}

/** Lists the sessions that were written after a time, in milliseconds since the epoch. */
export async function listMoved(
  storage: EntryStorage,
  filter: SessionFilter,
  snapshotTime: number,
): Promise<MovedSessions> {
  const moved: SessionSummary[] = [];
  for (;;) {
    const after = moved.at(-1);
    const position = after && { after: { updated: after.updated, id: after.id } };
    const batch = await storage.list({ ...filter, limit: BATCH_SIZE, ...position });
    moved.push(...batch.filter(({ updated }) => updated > snapshotTime));
    const isComplete = batch.length < BATCH_SIZE || moved.at(-1) !== batch.at(-1);
    if (!isComplete) continue;
    const sessions = await listSnapshot(moved, snapshotTime, findUpdated(storage));
    return { ids: new Set(moved.map(({ id }) => id)), sessions };
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
