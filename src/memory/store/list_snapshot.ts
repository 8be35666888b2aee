/**
 * Lists that keep their order while sessions are written.
 *
 * Sessions are listed by the time of their last entry, so that one that is written between two pages moves to the
 * beginning, which an earlier page has. Later pages have it where it was at the time of the first page: at the time of the
 * last entry that it had then. Sessions that are newer than the first page are not on later pages.
 *
 * @module
 */

import type { SessionSummary } from "../../core/session.ts";
import { compareSessions, type SessionOrder } from "./session_page.ts";

/** A session and its position in a list. */
export interface ListedSession {
  /** The summary of the session. */
  readonly summary: SessionSummary;
  /** Its position at the time of the first page. */
  readonly position: SessionOrder;
}

/**
 * Finds the time of the last entry that a session had at a time, both in milliseconds since the epoch; `undefined` if there
 * is none.
 */
export type FindUpdated = (
  summary: SessionSummary,
  snapshotTime: number,
) => Promise<number | undefined>;

/** Returns sessions at their positions at a time, in their order, without those that are newer. */
export async function listSnapshot(
  summaries: Iterable<SessionSummary>,
  snapshotTime: number,
  findUpdated: FindUpdated,
): Promise<readonly ListedSession[]> {
  const listed: ListedSession[] = [];
  for (const summary of summaries) {
    const { id, updated, created } = summary;
    if (updated <= snapshotTime) listed.push({ summary, position: { updated, id } });
    else if (created <= snapshotTime) {
      const earlier = await findUpdated(summary, snapshotTime);
      if (earlier !== undefined) listed.push({ summary, position: { updated: earlier, id } });
    }
  }
  return listed.toSorted((left, right) => compareSessions(left.position, right.position));
}
