/**
 * Deletes the sessions of a list.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type {
  DeleteSessionsOptions,
  SessionStore,
  SessionSummary,
} from "../../core/sessions/session.ts";
import { startPauses } from "./run_other_tasks.ts";
import { isOlder } from "./session_filter.ts";
import { listDescendants, sortLowestFirst } from "./sub_agent_tree.ts";

/** Deletes the sessions that match; sessions that are open for writing are kept. Resolves to the deleted ids. */
export async function deleteMatching(
  store: Pick<SessionStore, "list" | "delete">,
  { updatedBefore = Infinity, ...filter }: DeleteSessionsOptions,
): Promise<readonly string[]> {
  const sessions: readonly SessionSummary[] = await store.list(filter);
  const deleted: string[] = [];
  const pause = startPauses();
  for (const session of sortLowestFirst(sessions)) {
    // A deletion may block the thread: other tasks run before the next one.
    await pause();
    const { id } = session;
    if (isOlder(session, updatedBefore) && await deleteUnlessInUse(store, id)) deleted.push(id);
  }
  const isDeleted = new Set([...deleted, ...listDescendants(sessions, deleted)]);
  return sessions.flatMap(({ id }) => isDeleted.has(id) ? [id] : []);
}

/** Deletes a session; resolves to `false` if it is open for writing or does not exist. */
export async function deleteUnlessInUse(
  store: Pick<SessionStore, "delete">,
  id: string,
): Promise<boolean> {
  try {
    await store.delete(id);
    return true;
  } catch (error) {
    const isKept = error instanceof SessionError &&
      (error.reason === "locked" || error.reason === "not_found");
    if (isKept) return false;
    throw error;
  }
}
