/**
 * Deletes the sessions of sub-agents with those of the agents that started them.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type {
  DeleteSessionsOptions,
  SessionStore,
  SessionSummary,
} from "../../core/sessions/session.ts";
import { deleteMatching, deleteUnlessInUse } from "./delete_matching.ts";
import { startPauses } from "./run_other_tasks.ts";
import { pickFilter } from "./session_filter.ts";
import { selectSummaries } from "./session_page.ts";
import { getSubAgentLink, listSubAgents } from "./sub_agent_link.ts";
import { listDescendants } from "./sub_agent_tree.ts";

/** The part of a store that has the sessions of sub-agents. */
export type SubAgentStore = Pick<SessionStore, "list" | "delete">;

/** Options for the deletion of a session by a store. */
export interface DeleteSessionOptions {
  /** The store of the sub-agents of the session. */
  readonly store: SubAgentStore;
  /** Only if the session was created and written last before this time. Default: any. */
  readonly updatedBefore?: number | undefined;
}

/** Options for {@linkcode deleteSubAgents}. */
export interface DeleteSubAgentsOptions {
  /**
   * Rejects with a `SessionError` if a session is open for writing, so that none is deleted then. Default: found out when the
   * session is deleted.
   */
  readonly checkUnlocked?: ((id: string) => Promise<void>) | undefined;
}

/** The sessions that are being deleted with those below, by store. */
const deletions = new WeakMap<object, Set<string>>();

/**
 * Deletes the sessions of the sub-agents of a session, with those of their sub-agents, the lowest first. A store calls it in
 * `delete()`.
 *
 * @throws {SessionError} With the reason `locked` if one of them is open for writing. With `checkUnlocked` none is deleted
 * then, unless it was opened meanwhile.
 */
export async function deleteSubAgents(
  store: Pick<SessionStore, "list" | "delete">,
  parentId: string,
  { checkUnlocked = () => Promise.resolve() }: DeleteSubAgentsOptions = {},
): Promise<void> {
  const active = deletions.get(store) ?? new Set();
  deletions.set(store, active);
  let ids: readonly string[] = [];
  active.add(parentId);
  try {
    // A session may name one below it as its parent: the data of a store can be wrong.
    ids = (await listBelow(store, parentId)).filter((id) => !active.has(id));
    for (const id of ids) active.add(id);
    for (const id of ids) await ignoreMissing(checkUnlocked(id));
    for (const id of ids.toReversed()) await ignoreMissing(store.delete(id));
  } finally {
    for (const id of [parentId, ...ids]) active.delete(id);
  }
}

/** Returns the ids of the sessions of sub-agents below a session, level by level. */
async function listBelow(
  store: Pick<SessionStore, "list">,
  parentId: string,
): Promise<readonly string[]> {
  const found = new Set([parentId]);
  for (const parent of found) {
    for (const { id } of await listSubAgents(store, parent)) found.add(id);
  }
  return [...found].slice(1);
}

/** Waits for an operation on a session, which another process may have deleted. */
async function ignoreMissing(operation: Promise<void>): Promise<void> {
  try {
    await operation;
  } catch (error) {
    if (!(error instanceof SessionError && error.reason === "not_found")) throw error;
  }
}

/**
 * Deletes the sessions that match, for a store that reads all sessions for each list: it is listed before, and once more for
 * sub-agents that were started meanwhile. Sessions that are open for writing or were written meanwhile are kept, and those that
 * cannot be opened: their files may be those of another program, or of a later version. Resolves to the deleted ids.
 */
export async function deleteListed(
  store: SubAgentStore,
  options: DeleteSessionsOptions,
  deleteSession: (id: string, options: DeleteSessionOptions) => Promise<void>,
): Promise<readonly string[]> {
  const sessions = (await store.list()).filter(({ problem }) => problem === undefined);
  const subAgents = sessions.filter((session) => getSubAgentLink(session) !== undefined);
  const listed: SubAgentStore = {
    list: (filter) => Promise.resolve(selectSummaries(subAgents, pickFilter(filter ?? {}))),
    delete: (id) => deleteSession(id, { store: listed }),
  };
  const { updatedBefore } = options;
  const deleted = await deleteMatching({
    list: () => Promise.resolve(selectSummaries(sessions, pickFilter(options))),
    delete: (id) => deleteSession(id, { store: listed, updatedBefore }),
  }, options);
  return [
    ...deleted,
    ...await deleteOrphans(store, { parents: deleted, sessions: listAll(store) }),
  ];
}

async function* listAll(store: SubAgentStore): AsyncGenerator<SessionSummary> {
  yield* await store.list();
}

/**
 * Deletes the sessions of the sub-agents of sessions that were deleted by their age, which may have been written later.
 * Those that are open for writing are kept. Resolves to the deleted ids.
 */
export async function deleteOrphans(
  store: Pick<SessionStore, "delete">,
  { parents, sessions }: {
    readonly parents: readonly string[];
    /** The sessions of the store, of which those of sub-agents are kept in memory. */
    readonly sessions: AsyncIterable<SessionSummary>;
  },
): Promise<readonly string[]> {
  if (parents.length === 0) return [];
  const subAgents: SessionSummary[] = [];
  for await (const session of sessions) if (getSubAgentLink(session)) subAgents.push(session);
  const deleted: string[] = [];
  const pause = startPauses();
  // The lowest first, since the deletion of a session deletes those below.
  for (const id of listDescendants(subAgents, parents).toReversed()) {
    await pause();
    if (await deleteUnlessInUse(store, id)) deleted.push(id);
  }
  return deleted;
}
