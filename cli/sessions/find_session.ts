/**
 * Finds saved sessions.
 *
 * @module
 */

import type { SessionStore, SessionSummary } from "../../src/memory/mod.ts";
// Not mod.ts, which loads modules that the first request does not need.
import { getSubAgentLink, listWithoutSubAgents } from "../../src/memory/store/sub_agent_link.ts";
import { UsageError } from "../host/cli_error.ts";

const ADVICE = "List the sessions with: swink sessions list";

const ALL_ADVICE = "List those of all directories with: swink sessions list --all";

/** An id may be that of a session of any directory. */
const ID_ADVICE = "List the sessions of all directories with: swink sessions list --all";

/** Number of sessions among which those that cannot be opened are looked for. */
const MAX_RECENT = 20;

/** Maximum number of ids in a message. */
const MAX_SHOWN = 5;

/**
 * Returns the id of the session that was written last in a directory.
 *
 * @throws {UsageError} If the directory has none.
 */
export async function findLastSession(store: SessionStore, cwd: string): Promise<string> {
  const [last] = await listWithoutSubAgents(store, { cwd, limit: 1 });
  if (last) return last.id;
  throw createNoSessionError(cwd);
}

/**
 * Returns a warning if the directory of a session that was written after another one is not known: it cannot be opened, or
 * its first line is damaged.
 */
export async function findUnopenableWarning(
  store: SessionStore,
  id: string,
): Promise<string | undefined> {
  const recent = await store.list({ limit: MAX_RECENT });
  const position = recent.findIndex((session) => session.id === id);
  const later = position < 0 ? recent : recent.slice(0, position);
  if (later.some(({ problem }) => problem !== undefined)) {
    return "a later session, which may be of this directory, cannot be opened: swink sessions list --all";
  }
  const isUnknown = later.some((session) =>
    session.cwd === undefined && getSubAgentLink(session) === undefined
  );
  return isUnknown
    ? "the directory of a later session, which may be this one, is not known: swink sessions list --all"
    : undefined;
}

/** Creates the error for a directory without sessions. */
export function createNoSessionError(cwd: string): UsageError {
  return new UsageError(`There is no session in ${cwd}`, ALL_ADVICE);
}

/**
 * Returns the session with an id, or the only one whose id begins with the text.
 *
 * @throws {UsageError} If there is none, or several.
 */
export async function findSession(store: SessionStore, text: string): Promise<SessionSummary> {
  // Every id begins with an empty text, such as that of an unset variable of a script.
  if (text === "") throw new UsageError("The id of the session is empty", ADVICE);
  const sessions = await store.list();
  const exact = sessions.find(({ id }) => id === text);
  if (exact) return exact;
  const [first, second, ...others] = sessions.filter(({ id }) => id.startsWith(text));
  if (!first) throw new UsageError(`There is no session ${JSON.stringify(text)}`, ID_ADVICE);
  if (!second) return first;
  const found = [first, second, ...others].map(({ id }) => id);
  const more = found.length > MAX_SHOWN ? ", …" : "";
  throw new UsageError(
    `Several sessions begin with ${JSON.stringify(text)}: ${
      found.slice(0, MAX_SHOWN).join(", ")
    }${more}`,
    "Write more of the id.",
  );
}
