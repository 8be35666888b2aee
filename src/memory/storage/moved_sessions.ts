/**
 * Sessions of a storage that were written since the first page of a list.
 *
 * @module
 */

import type { SessionFilter, SessionSummary } from "../../core/sessions/session.ts";
import { decodeLine } from "../store/jsonl.ts";
import {
  type FindUpdated,
  type ListedSession,
  listSnapshot,
  WrittenCount,
} from "../store/list_snapshot.ts";
import type { EntryStorage } from "./entry_storage.ts";

/** Number of sessions that are listed at a time. */
const LIST_BATCH_SIZE = 100;

/** Number of lines that are read before the outline of a session is. */
const LAST_LINES = 32;

/** Sessions that were written. */
export interface MovedSessions {
  /** The ids of all of them. */
  readonly ids: ReadonlySet<string>;
  /** Those that existed, at their positions at the time, in their order. */
  readonly sessions: readonly ListedSession[];
}

/** The time of the first page, and whether there is another one. */
export interface FirstPage {
  /** Time of the first page, in milliseconds since the epoch. */
  readonly snapshotTime: number;
  /** Whether the page is a later one, which a cursor selects. */
  readonly hasCursor: boolean;
}

/**
 * Lists the sessions that were written since the first page. One that is written again meanwhile moves to the beginning of
 * the list, which is listed again until it has no other sessions.
 *
 * @throws {SessionError} With the reason `bad_cursor` if they are too many for a cursor.
 */
export async function listMoved(
  storage: EntryStorage,
  filter: SessionFilter,
  { snapshotTime, hasCursor }: FirstPage,
): Promise<MovedSessions> {
  const moved = new Map<string, SessionSummary>();
  for (let time = snapshotTime;;) {
    const written = await listWritten(storage, filter, { snapshotTime: time, hasCursor });
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
  { snapshotTime: time, hasCursor }: FirstPage,
): Promise<readonly SessionSummary[]> {
  const written: SessionSummary[] = [];
  const count = new WrittenCount();
  for (;;) {
    const last = written.at(-1);
    const position = last && { after: { updated: last.updated, id: last.id } };
    const batch = await storage.list({ ...filter, limit: LIST_BATCH_SIZE, ...position });
    const newer = batch.filter(({ updated }) => updated > time);
    written.push(...newer);
    if (hasCursor) count.add(newer.length);
    if (newer.length < LIST_BATCH_SIZE) return written;
  }
}

/** Finds times in the last lines of sessions, since few entries are newer than the first page of a list. */
export function findUpdated(storage: EntryStorage): FindUpdated {
  return async ({ id, entries }, snapshotTime) => {
    const from = Math.max(0, entries - LAST_LINES);
    const positions = Array.from({ length: entries - from }, (_, index) => from + index);
    const times = (await storage.readLines(id, positions)).map(readTime);
    const time = times.findLast((time) => time !== undefined && time <= snapshotTime);
    if (time !== undefined || from === 0) return time;
    const { outline = [] } = await storage.load(id) ?? {};
    return outline.findLast((entry) => entry && entry.timestamp <= snapshotTime)?.timestamp;
  };
}

function readTime(line: string | undefined): number | undefined {
  const decoded = decodeLine(line ?? "");
  return decoded?.type === "referring" ? decoded.entry.timestamp : decoded?.timestamp;
}
