/**
 * Creates, lists, describes and deletes sessions.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";
import type { SessionSummary } from "../../core/sessions/session.ts";
import { listWithoutSubAgents } from "../../memory/store/sub_agent_link.ts";
import { createFailure } from "../http/problem.ts";
import { readEntries, withSession } from "../runner/stored_session.ts";
import {
  type Call,
  getInteger,
  getSessionKey,
  readCallBody,
  respond,
  type Services,
} from "./call.ts";

/** Maximum number of sessions and of entries on a page. */
const MAX_PAGE = 200;

/** Name of the entry with which a session begins, since one without entries is not stored. */
const CREATED = "session_created";

/** Creates a session. */
export async function createSession(call: Call, services: Services): Promise<Response> {
  const { value } = await readCallBody(call, "CreateSession", services);
  const content = value as NewSession;
  checkMetadata(content.metadata);
  const { caller: { tenant, user }, limits: { sessions } } = call;
  const create = async () => {
    await checkSessionLimit(call);
    return await storeSession(call, content);
  };
  const id = sessions === Infinity
    ? await create()
    // Requests that arrive together would all find fewer sessions than the limit.
    : await services.creations.run(JSON.stringify([tenant, user]), create);
  return respond({ id }, 201);
}

/** The content of a request that creates a session. */
interface NewSession {
  readonly id?: string;
  readonly title?: string;
  readonly metadata?: JsonObject;
}

/** Stores a session that has no messages; returns its id. */
async function storeSession(call: Call, { id, title, metadata }: NewSession): Promise<string> {
  const { tenant, user } = call.caller;
  const session = await call.store.create({
    ...(id !== undefined && { id }),
    ...(metadata && { metadata }),
    ...(tenant !== undefined && { tenant }),
    ...(user !== undefined && { user }),
  });
  try {
    session.append({ type: "custom", name: CREATED, data: {} });
    if (title !== undefined) session.append({ type: "title", title });
  } finally {
    await session.close();
  }
  return session.id;
}

/** Maximum length of the metadata as JSON, as in stores. */
const MAX_METADATA_LENGTH = 65_536;

/** Throws a `RequestFailure` for metadata that a store refuses, or that would make the session one of a sub-agent. */
function checkMetadata(metadata: JsonObject = {}): void {
  if (JSON.stringify(metadata).length > MAX_METADATA_LENGTH) {
    throw createFailure(
      "bad_request",
      `metadata must not be longer than ${MAX_METADATA_LENGTH} characters as JSON`,
    );
  }
  const reserved = Object.keys(metadata).find((name) => name.startsWith("subAgent"));
  if (reserved === undefined) return;
  throw createFailure("bad_request", "metadata: names that begin with subAgent are reserved");
}

async function checkSessionLimit({ store, limits: { sessions } }: Call): Promise<void> {
  if (sessions === Infinity) return;
  const listed = sessions === 0 ? [] : await listWithoutSubAgents(store, { limit: sessions });
  if (listed.length < sessions) return;
  throw createFailure("too_many_sessions", `There are ${sessions} sessions: delete one first`);
}

/** Lists the sessions of the caller. */
export async function listSessions(call: Call, { runner }: Services): Promise<Response> {
  const limit = getInteger(call, "limit", { fallback: 50, minimum: 1, maximum: MAX_PAGE });
  const cursor = call.url.searchParams.get("cursor");
  const page = await listWithoutSubAgents(call.store, {
    limit,
    ...(cursor !== null && { cursor }),
  });
  return respond({
    sessions: page.map((summary) => ({
      ...toPublicSummary(summary),
      isRunning: runner.isRunning(summary.id),
    })),
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  });
}

/** Describes a session. */
export async function getSession(call: Call, { runner }: Services): Promise<Response> {
  const { summary, ...activity } = await runner.describe(getSessionKey(call));
  return respond({ ...toPublicSummary(summary), ...activity });
}

/** Deletes a session. */
export async function deleteSession(call: Call, { runner }: Services): Promise<Response> {
  await runner.delete(getSessionKey(call));
  return new Response(null, { status: 204 });
}

/** Returns a page of the log of a session. */
export async function listEntries(call: Call): Promise<Response> {
  const limit = getInteger(call, "limit", { fallback: 100, minimum: 1, maximum: MAX_PAGE });
  const after = getInteger(call, "after", { fallback: 0, minimum: 0, maximum: 1e12 });
  const open = () => call.store.open(getSessionKey(call).id, { access: "read" });
  return await withSession(open, async (session) => {
    const read = await readEntries(session, after, after + limit);
    const entries = read.flatMap(({ entry }) => entry ? [entry] : []);
    const hasMore = after + limit < session.outline.length;
    return respond({ entries, ...(hasMore && { next: after + limit }) });
  });
}

/** Returns the members of a summary that clients see: neither a directory of this machine nor the tenant. */
function toPublicSummary(summary: SessionSummary): object {
  const { id, created, updated, title, firstPrompt, user, metadata, model, problem } = summary;
  const { entries, messages, usage, cost } = summary;
  return {
    id,
    created,
    updated,
    ...(title !== undefined && { title }),
    ...(firstPrompt !== undefined && { firstPrompt }),
    ...(user !== undefined && { user }),
    ...(metadata && { metadata }),
    ...(model && { model }),
    ...(problem !== undefined && { problem: "The session cannot be opened" }),
    entries,
    messages,
    usage,
    cost,
  };
}
