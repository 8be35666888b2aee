/**
 * Lists that keep their order while sessions are written.
 *
 * Sessions are listed by the time of their last entry, so that one that is written between two pages moves to the
 * beginning, which an earlier page has. Later pages have it where it was at the time of the first page: at the time of the
 * last entry that it had then. Sessions that are newer than the first page are not on later pages.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type { SessionSummary } from "../../core/sessions/session.ts";
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

/**
 * Maximum number of sessions that may have been written since the first page of a list. For each of them, entries are read,
 * and a cursor may come from a request.
 */
const MAX_WRITTEN = 1_000;

/**
 * Counts sessions that were written since the first page of a list.
 *
 * @throws {SessionError} With the reason `bad_cursor` if there are too many, when {@linkcode WrittenCount.add} is called.
 */
export class WrittenCount {
  #count = 0;

  /** Counts sessions. */
  add(sessions: number): void {
    this.#count += sessions;
    if (this.#count <= MAX_WRITTEN) return;
    throw new SessionError(
      `The cursor has expired: more than ${MAX_WRITTEN} sessions were written since its first page: ` +
        "begin again without a cursor",
      { reason: "bad_cursor" },
    );
  }

  /** Returns a function that counts the sessions whose times it finds. */
  limit(findUpdated: FindUpdated): FindUpdated {
    return (summary, snapshotTime) => {
      this.add(1);
      return findUpdated(summary, snapshotTime);
    };
  }
}

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

/** Returns the sessions after a position, in their order. */
export function selectListed(
  sessions: readonly ListedSession[],
  after: SessionOrder | undefined,
): readonly ListedSession[] {
  return sessions.filter(({ position }) => !after || compareSessions(after, position) < 0)
    .toSorted((left, right) => compareSessions(left.position, right.position));
}
