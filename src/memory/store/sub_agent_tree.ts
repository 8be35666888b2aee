/**
 * The tree of the sessions of sub-agents.
 *
 * @module
 */

import type { SessionSummary } from "../../core/sessions/session.ts";
import { getSubAgentLink } from "./sub_agent_link.ts";

/** Returns the ids of the sessions of sub-agents below some sessions, level by level. */
export function listDescendants(
  sessions: readonly SessionSummary[],
  parents: readonly string[],
): readonly string[] {
  const children = new Map<string, string[]>();
  for (const session of sessions) {
    const { parentId } = getSubAgentLink(session) ?? {};
    if (parentId === undefined) continue;
    children.set(parentId, [...children.get(parentId) ?? [], session.id]);
  }
  const found = new Set(parents);
  for (const parent of found) {
    for (const id of children.get(parent) ?? []) found.add(id);
  }
  return [...found].slice(new Set(parents).size);
}

/** Sorts sessions so that those of sub-agents come before that of the agent which started them. */
export function sortLowestFirst(sessions: readonly SessionSummary[]): readonly SessionSummary[] {
  const getDepth = (session: SessionSummary): number => getSubAgentLink(session)?.path.length ?? 0;
  return sessions.toSorted((left, right) => getDepth(right) - getDepth(left));
}
