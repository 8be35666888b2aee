/**
 * Deletes the sessions of sub-agents with those of the agents that started them.
 *
 * @module
 */

import type { SessionFilter, SessionStore, SessionSummary } from "../../core/session.ts";
import { deleteUnlessInUse } from "./session_page.ts";
import { listSubAgents } from "./sub_agent_link.ts";
import { listDescendants } from "./sub_agent_tree.ts";

/**
 * Deletes the sessions of the sub-agents of a session, with those of their sub-agents. A store calls it in `delete()`.
 *
 * @throws {SessionError} With the reason `locked` if one of them is open for writing; some may be deleted by then.
 */
export async function deleteSubAgents(
  store: Pick<SessionStore, "list" | "delete">,
  parentId: string,
): Promise<void> {
  for (const { id } of await listSubAgents(store, parentId)) {
    if (id !== parentId) await store.delete(id);
  }
}

/**
 * Deletes the sessions of the sub-agents of sessions that were deleted by their age, which may have been written later.
 * Those that are open for writing are kept. Resolves to the deleted ids.
 */
export async function deleteOrphans(
  store: Pick<SessionStore, "list" | "delete">,
  { parents, filter }: { readonly parents: readonly string[]; readonly filter: SessionFilter },
): Promise<readonly string[]> {
  if (parents.length === 0) return [];
  const sessions: readonly SessionSummary[] = await store.list(filter);
  const deleted: string[] = [];
  // The lowest first, since the deletion of a session deletes those below.
  for (const id of listDescendants(sessions, parents).toReversed()) {
    if (await deleteUnlessInUse(store, id)) deleted.push(id);
  }
  return deleted;
}
