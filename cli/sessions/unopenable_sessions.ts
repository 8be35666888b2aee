/**
 * Sessions that cannot be opened, whose directories are not known, so that a list of one directory has none of them.
 *
 * @module
 */

import type { SessionStore, SessionSummary } from "../../src/memory/mod.ts";
// Not mod.ts, which loads modules that the question for a session does not need.
import { listWithoutSubAgents } from "../../src/memory/store/sub_agent_link.ts";
import { DEFAULT_SESSION_LIMIT } from "../settings/list_options.ts";

/**
 * Describes the sessions that the list of a directory leaves out because they cannot be opened, or because their first line
 * is damaged, so that their directory is not known; `undefined` if there are none.
 */
export async function describeUnopenable(
  store: Pick<SessionStore, "list">,
): Promise<string | undefined> {
  const all = await listWithoutSubAgents(store);
  const unopenable = all.filter(isUnopenable).length;
  const misplaced = all.filter(isMisplaced).length;
  if (unopenable + misplaced === 0) return undefined;
  const last = all.findLastIndex((session) => isUnopenable(session) || isMisplaced(session)) + 1;
  const limit = last > DEFAULT_SESSION_LIMIT ? ` --limit ${last}` : "";
  const parts = [
    ...unopenable > 0 ? [`${formatCount(unopenable)} cannot be opened`] : [],
    ...misplaced > 0 ? [`the directory of ${formatCount(misplaced)} is not known`] : [],
  ];
  return `${parts.join(", and ")}: swink sessions list --all${limit}`;
}

function formatCount(count: number): string {
  return count === 1 ? "1 session" : `${count} sessions`;
}

/** Lines below a list with sessions that cannot be opened, whose reasons it may cut; `undefined` for another list. */
export function adviseUnopenable(sessions: readonly SessionSummary[]): string | undefined {
  const session = sessions.find(isUnopenable);
  return session &&
    `Why one cannot be opened, and what to do:\n  swink sessions show ${session.id}`;
}

/** Whether a session cannot be opened; its directory is not known then. */
function isUnopenable({ problem }: SessionSummary): boolean {
  return problem !== undefined;
}

/** Whether a session can be opened, but its directory is not known. */
function isMisplaced({ problem, cwd }: SessionSummary): boolean {
  return problem === undefined && cwd === undefined;
}
