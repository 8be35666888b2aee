/**
 * The server that a session asked because an option named it. A run that continues the session without the option would send
 * the conversation to another one.
 *
 * @module
 */

import { SessionError } from "../../src/core/errors/errors.ts";
import type { Session, SessionStore } from "../../src/memory/mod.ts";
import { getSubAgentLink } from "../../src/memory/store/sub_agent_link.ts";

/** A server that an option of a run names. */
export interface SessionServer {
  /** Name of the provider. */
  readonly provider: string;
  /** URL of its API. */
  readonly baseUrl: string;
}

/** Name of the entries of a session that have a server, or `null` for a run without one. */
const ENTRY_NAME = "base_url";

/**
 * Finds the server of the last run of a session, or else of the agent that started it as a sub-agent; `undefined` if no
 * option named it.
 */
export async function findSessionServer(
  store: Pick<SessionStore, "open">,
  session: Pick<Session, "header" | "outline" | "entry">,
): Promise<SessionServer | undefined> {
  const own = await findEntry(session);
  if (own) return parseServer(own.data);
  const seen = new Set<string>();
  for (let id = getSubAgentLink(session.header)?.parentId; id !== undefined && !seen.has(id);) {
    seen.add(id);
    await using parent = await openIfExists(store, id);
    const entry = parent && await findEntry(parent);
    if (entry) return parseServer(entry.data);
    id = parent && getSubAgentLink(parent.header)?.parentId;
  }
  return undefined;
}

/** Finds the server of the last run of a saved session, which may be open elsewhere. */
export async function findStoredServer(
  store: Pick<SessionStore, "open">,
  id: string,
): Promise<SessionServer | undefined> {
  await using session = await store.open(id, { access: "read" });
  return await findSessionServer(store, session);
}

/** Finds the entry of the last run, which has a server or none. */
async function findEntry(
  session: Pick<Session, "outline" | "entry">,
): Promise<{ readonly data: unknown } | undefined> {
  // Also behind a rewind: the server of the run stays then.
  for (const { id, type } of session.outline.toReversed()) {
    const entry = type === "custom" ? await session.entry(id) : undefined;
    if (entry?.type === "custom" && entry.name === ENTRY_NAME) return entry;
  }
  return undefined;
}

async function openIfExists(
  store: Pick<SessionStore, "open">,
  id: string,
): Promise<Session | undefined> {
  try {
    return await store.open(id, { access: "read" });
  } catch (error) {
    if (error instanceof SessionError && error.reason === "not_found") return undefined;
    throw error;
  }
}

/** Records the server of a run, unless it is that of the last one. The URL has no password then. */
export function recordServer(
  session: Pick<Session, "append">,
  server: SessionServer | undefined,
  last?: SessionServer,
): void {
  const data = parseServer(server);
  if (data?.provider === last?.provider && data?.baseUrl === last?.baseUrl) return;
  session.append({ type: "custom", name: ENTRY_NAME, data: data ?? null });
}

/** Whether a URL is that of a server, as its session has it. */
export function matchesUrl({ baseUrl }: SessionServer, url: string | undefined): boolean {
  return url !== undefined && toStoredUrl(url) === baseUrl;
}

/** Reads a server of an entry, which another program may have written. */
function parseServer(data: unknown): SessionServer | undefined {
  const { provider, baseUrl } = (data ?? {}) as Partial<Record<keyof SessionServer, unknown>>;
  const url = typeof baseUrl === "string" ? toStoredUrl(baseUrl) : undefined;
  return typeof provider === "string" && url !== undefined ? { provider, baseUrl: url } : undefined;
}

/** Returns a URL without user name, password and query, which may be secret; `undefined` if it is invalid. */
export function toStoredUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url ? `${url.protocol}//${url.host}${url.pathname}`.replace(/\/$/, "") : undefined;
}
