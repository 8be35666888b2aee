/**
 * The link from the session of a sub-agent to that of the agent that started it, in the metadata.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type {
  CreateSessionOptions,
  ListSessionsOptions,
  SessionFilter,
  SessionPage,
  SessionStore,
  SessionSummary,
} from "../../core/sessions/session.ts";
import { isScalar } from "./session_filter.ts";

/** Name of the member of the metadata that has the link. */
const PARENT = "subAgentParentId";
const CALL = "subAgentCallId";
const PATH = "subAgentPath";

/** The agent that started a sub-agent. */
export interface SubAgentLink {
  /** Id of the session of the agent that started it. */
  readonly parentId: string;
  /** Id of the tool call that started it. */
  readonly toolCallId: string;
  /** Ids of the tool calls that lead to it from the agent of the host, the outermost first. */
  readonly path: readonly string[];
}

/** A session, as far as its link is concerned. */
type LinkedSession = Pick<SessionSummary, "metadata">;

/**
 * Returns the agent that started the agent of a session; `undefined` if the session is not that of a sub-agent.
 *
 * @example
 * ```ts
 * import { getSubAgentLink, InMemorySessionStore } from "@swink/agent/memory";
 *
 * await using session = await new InMemorySessionStore().create();
 * getSubAgentLink(session.header); // undefined
 * ```
 */
export function getSubAgentLink(
  { metadata }: Pick<SessionSummary, "metadata">,
): SubAgentLink | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const { [PARENT]: parentId, [CALL]: toolCallId, [PATH]: path } = metadata;
  if (typeof parentId !== "string" || typeof toolCallId !== "string") return undefined;
  const isPath = Array.isArray(path) && path.every((id) => typeof id === "string");
  return { parentId, toolCallId, path: isPath ? path as string[] : [toolCallId] };
}

/** Returns the options of the session of a sub-agent: those of its parent by which sessions are selected, and the link. */
export function createLinkedOptions(
  { id, cwd, tenant, user, metadata = {} }:
    & Pick<SessionSummary, "id">
    & Omit<SessionFilter, "metadata">
    & LinkedSession,
  toolCallId: string,
): CreateSessionOptions {
  const path = [...getSubAgentLink({ metadata })?.path ?? [], toolCallId];
  const selectable: JsonObject = Object.fromEntries(
    Object.entries(metadata).filter(([, value]) => isScalar(value)),
  );
  return {
    cwd,
    tenant,
    user,
    metadata: { ...selectable, [PARENT]: id, [CALL]: toolCallId, [PATH]: path },
  };
}

/**
 * Returns the metadata of a session without the link; `undefined` if there are no others. A link that lacks members is
 * omitted too, since sub-agents are found by the id of their parent only.
 */
export function omitLink(metadata: JsonObject | undefined): JsonObject | undefined {
  if (metadata === undefined || !(PARENT in metadata)) return metadata;
  const { [PARENT]: _parentId, [CALL]: _toolCallId, [PATH]: _path, ...others } = metadata;
  return Object.keys(others).length === 0 ? undefined : others;
}

/**
 * Lists the sessions of the sub-agents that the agent of a session has started, most recently written first.
 *
 * @throws {SessionError} If the store cannot be read, or an option is invalid.
 */
export function listSubAgents(
  store: Pick<SessionStore, "list">,
  parentId: string,
  { metadata, ...options }: ListSessionsOptions = {},
): Promise<SessionPage> {
  return store.list({ ...options, metadata: { ...metadata, [PARENT]: parentId } });
}

/** Maximum number of sessions that one request of a page reads. */
const MAX_REQUESTED = 1_000;

/**
 * Lists the sessions that are not those of sub-agents, most recently written first. The pages are like those of the store.
 *
 * @throws {SessionError} If the store cannot be read, or an option is invalid.
 *
 * @example
 * ```ts
 * import { InMemorySessionStore, listWithoutSubAgents } from "@swink/agent/memory";
 *
 * (await listWithoutSubAgents(new InMemorySessionStore(), { limit: 20 })).length; // 0
 * ```
 */
export async function listWithoutSubAgents(
  store: Pick<SessionStore, "list">,
  { limit, ...options }: ListSessionsOptions = {},
): Promise<SessionPage> {
  if (limit === undefined || limit === Infinity || !(limit > 0)) {
    return withCursor(selectRoots(await store.list({ ...options, limit })), undefined);
  }
  const found: SessionSummary[] = [];
  let { cursor } = options;
  for (let requested = limit;; requested = Math.min(2 * requested, MAX_REQUESTED)) {
    const missing = limit - found.length;
    const request = { ...options, ...(cursor !== undefined && { cursor }) };
    const read = await store.list({ ...request, limit: requested });
    // A page has one cursor, after its last session: one that has too many sessions is read again up to the last one.
    const end = findPosition(read, missing);
    const page = end === read.length ? read : await store.list({ ...request, limit: end });
    found.push(...selectRoots(page));
    cursor = page.cursor;
    if (cursor === undefined || found.length >= limit) return withCursor(found, cursor);
  }
}

function selectRoots(sessions: readonly SessionSummary[]): SessionSummary[] {
  return sessions.filter((session) => getSubAgentLink(session) === undefined);
}

/** Returns the number of sessions up to the one that completes a page. */
function findPosition(sessions: readonly SessionSummary[], missing: number): number {
  let count = 0;
  const position = sessions.findIndex((session) =>
    getSubAgentLink(session) === undefined && ++count === missing
  );
  return position < 0 ? sessions.length : position + 1;
}

function withCursor(sessions: SessionSummary[], cursor: string | undefined): SessionPage {
  return cursor === undefined ? sessions : Object.assign(sessions, { cursor });
}
