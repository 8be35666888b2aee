/**
 * Imports a session from JSON lines.
 *
 * @module
 */

import { SessionError } from "../../core/errors/errors.ts";
import type { Session, SessionDamage, SessionStore } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/sessions/session_entry.ts";
import { LogScanner } from "../file/log_scanner.ts";
import { splitLines } from "../file/read_lines.ts";
import { canStore } from "../store/entry_check.ts";
import { createSessionId } from "../store/session_id.ts";
import { getSubAgentLink, omitLink } from "../store/sub_agent_link.ts";

/** Options for {@linkcode importSession}. */
export interface ImportSessionOptions {
  /** Id of the new session. Default: the current time with a random suffix. */
  readonly id?: string | undefined;
  /** Creation time if the lines have none, in milliseconds since the epoch. Default: the time of the first entry. */
  readonly created?: number | undefined;
}

/** Result of {@linkcode importSession}. */
export interface ImportedSession {
  /** The session, open for writing. */
  readonly session: Session;
  /** Lines that could not be read. */
  readonly damage: readonly SessionDamage[];
}

/**
 * Creates a session with the entries of JSON lines: an export, a session file, or a list of messages, one per line.
 * Lines that cannot be read are skipped and returned as `damage`. The session of a sub-agent becomes one that belongs to no
 * agent, unless it is imported under its id and the store has the session of the agent that started it.
 *
 * Approvals are not imported, since the origin of the lines is unknown: the approval gate has no grants, and the plan
 * has to be approved again. The tenant and the user are those of the lines, or of a store of `scopeStore()`.
 *
 * @throws {SessionError} If no line can be read, or the version of the lines is newer than the supported one.
 */
export async function importSession(
  store: SessionStore,
  jsonl: string,
  { id, created }: ImportSessionOptions = {},
): Promise<ImportedSession> {
  const scanner = new LogScanner({ id: id ?? "import", created: created ?? Date.now() });
  const bytes = new TextEncoder().encode(jsonl);
  for (const line of splitLines(bytes, 0)) scanner.addLine(line);
  const { header: { type: _type, version: _version, metadata, ...header }, offsets } = scanner;
  const damage = [...scanner.damage];
  const entries = scanner.entries.filter((entry, position): entry is SessionEntry => {
    if (entry && canStore(entry)) return true;
    const [offset, length] = [offsets.offsetAt(position), offsets.lengthAt(position)];
    damage.push({ type: "broken_entry", offset, length, ...(entry && { entryId: entry.id }) });
    return false;
  });
  if (entries.length === 0) {
    throw new SessionError(
      "Cannot import a session: no session entry found: provide JSON lines with one entry or message each",
      { reason: "not_a_session" },
    );
  }
  const isRestored = id !== undefined && id === scanner.loggedId;
  const isLinked = isRestored && await hasParent(store, scanner.header);
  const kept = isLinked ? metadata : omitLink(metadata);
  const session = await store.create({
    ...header,
    ...(kept !== undefined && { metadata: kept }),
    ...(created !== undefined && !scanner.hasHeader && { created }),
    id: id ?? createSessionId(Date.now()),
    entries: entries.map(omitApprovals),
  });
  return { session, damage };
}

/** Returns an entry without approvals: lines of unknown origin must not approve calls of this user. */
function omitApprovals(entry: SessionEntry): SessionEntry {
  switch (entry.type) {
    case "grants_changed":
      return { ...entry, grants: [] };
    case "plan_created": {
      const { approvedHash: _approvedHash, ...unapproved } = entry;
      return unapproved;
    }
    case "approval": {
      const { decision } = entry;
      return decision.type === "approved"
        ? { ...entry, decision: { ...decision, scope: "once" } }
        : entry;
    }
    default:
      return entry;
  }
}

/** Whether a store has the session of the agent that started that of a session. */
async function hasParent(
  store: SessionStore,
  header: SessionHeader,
): Promise<boolean> {
  const link = getSubAgentLink(header);
  if (!link) return false;
  try {
    await using parent = await store.open(link.parentId, { access: "read" });
    return parent.header.tenant === header.tenant && parent.header.user === header.user;
  } catch (error) {
    if (error instanceof SessionError) return false;
    throw error;
  }
}
