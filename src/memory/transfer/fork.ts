/**
 * Forks a session.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import type { Session, SessionStore } from "../../core/sessions/session.ts";
import type {
  EntryOutline,
  QueueChangedEntry,
  SessionEntry,
} from "../../core/sessions/session_entry.ts";
import { canStore } from "../store/entry_check.ts";
import { readEntries } from "../store/read_entries.ts";
import { createRandomId } from "../store/session_id.ts";
import { omitLink } from "../store/sub_agent_link.ts";

/** Options for {@linkcode forkSession}. */
export interface ForkSessionOptions {
  /** Id of the new session. Default: the current time with a random suffix. */
  readonly id?: string | undefined;
  /** Id of the last entry to copy; `null` copies none. Default: the leaf. */
  readonly leaf?: string | null | undefined;
  /** Store of the new session. Default: `store`. */
  readonly into?: SessionStore | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof ForkSessionOptions, true>> = {
  id: true,
  leaf: true,
  into: true,
};

/**
 * Creates a session, open for writing, with the entries of another session's path. The other session may be open
 * elsewhere and is not changed. Its queued messages and pending approvals stay there, so that none takes effect twice.
 *
 * @throws {SessionError} If the session cannot be read or does not have the entry.
 * @throws {BadRequestError} If an option is unknown.
 *
 * @example
 * ```ts
 * import { forkSession, InMemorySessionStore } from "@swink/agent/memory";
 *
 * const store = new InMemorySessionStore();
 * await using session = await store.create({ id: "plan" });
 * session.append({ type: "title", title: "Plan A" });
 * await session.flush();
 * await using fork = await forkSession(store, "plan", { id: "other-plan" });
 * fork.header.parent?.sessionId; // "plan"
 * ```
 */
export async function forkSession(
  store: SessionStore,
  id: string,
  options: ForkSessionOptions = {},
): Promise<Session> {
  checkNames(options, Object.keys(OPTION_NAMES), "forkSession()");
  await using source = await store.open(id, { access: "read" });
  const { leaf = source.leafId, into = store } = options;
  const entries = (await readEntriesUpTo(source, leaf)).filter(canStore).map(toOriginal);
  const { cwd, tenant, user } = source.header;
  // The session of a sub-agent is hidden in lists and deleted with that of its parent, as its fork must not be.
  const metadata = omitLink(source.header.metadata);
  const fork = await into.create({
    ...(options.id !== undefined && { id: options.id }),
    ...(cwd !== undefined && { cwd }),
    ...(tenant !== undefined && { tenant }),
    ...(user !== undefined && { user }),
    ...(metadata !== undefined && { metadata }),
    parent: { sessionId: id, entryId: leaf },
    entries,
  });
  const queues = entries.findLast((entry) => entry.type === "queue_changed");
  if (queues && !isEmpty(queues)) {
    fork.append({ type: "queue_changed", queued: { steering: [], followUp: [] } });
  }
  const pending = entries.findLast((entry) => entry.type === "approvals_pending");
  if (pending && pending.pendingApprovals.length > 0) {
    fork.append({ type: "approvals_pending", messageId: null, pendingApprovals: [] });
  }
  return fork;
}

/** Returns an entry of the only branch of a fork, whose tokens the fork counts. */
function toOriginal(entry: SessionEntry): SessionEntry {
  if (entry.type !== "message" || !entry.isCopy) return entry;
  const { isCopy: _isCopy, ...original } = entry;
  return original;
}

function isEmpty({ queued, delivering = queued }: QueueChangedEntry): boolean {
  return [queued, delivering].every(({ steering, followUp }) =>
    steering.length + followUp.length === 0
  );
}

/**
 * Reads the path to a leaf, and the entries of the tool journal for its calls on other branches, whose side effects
 * have happened too.
 */
async function readEntriesUpTo(
  source: Session,
  leaf: string | null,
): Promise<readonly SessionEntry[]> {
  const path = await source.path({ leaf });
  const onPath = new Set(path.map(({ id }) => id));
  const isOther = ({ id, type }: EntryOutline) =>
    !onPath.has(id) && (type === "tool_started" || type === "tool_finished");
  const others = source.outline.flatMap((entry) => isOther(entry) ? [entry.id] : []);
  const journal: SessionEntry[] = [];
  for (const entry of await readEntries(source, others)) {
    if (!("messageId" in entry) || !onPath.has(entry.messageId ?? "")) continue;
    journal.push({ ...entry, parentId: entry.messageId });
  }
  const last = path.at(-1);
  if (journal.length === 0 || !last) return path;
  const { id: parentId, timestamp } = last;
  const leafMoved: SessionEntry = {
    type: "leaf_moved",
    from: journal.at(-1)?.id ?? null,
    id: createRandomId(),
    parentId,
    timestamp,
  };
  return [...path, ...journal, leafMoved];
}
