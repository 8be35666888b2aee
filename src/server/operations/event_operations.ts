/**
 * Streams the events of a session.
 *
 * @module
 */

import { STREAM_HEADERS } from "../../core/streams/streamed_response.ts";
import { createFailure } from "../http/problem.ts";
import type { FeedItem } from "../runner/agent_runner.ts";
import { type Call, getSessionKey, type Services } from "./call.ts";

const HEADERS = { "content-type": "text/event-stream; charset=utf-8", ...STREAM_HEADERS };

/** Streams the events of a session as server-sent events. */
export async function streamEvents(
  call: Call,
  { runner, streams, usage }: Services,
): Promise<Response> {
  const after = getPosition(call);
  const types = getTypes(call);
  const release = usage.openStream(call.caller.tenant, call.limits);
  const key = getSessionKey(call);
  const body = await streams.open(async (signals) => {
    const events = await runner.events(key, { after, ...signals });
    return types ? selectItems(events, types) : events;
  }, release);
  return new Response(body, { headers: HEADERS });
}

/** Returns the position of a client that connects again, or that of the query. */
function getPosition({ request, url }: Call): string | undefined {
  const position = request.headers.get("last-event-id") ?? url.searchParams.get("after");
  return position === null || position === "" ? undefined : position;
}

function getTypes({ url }: Call): ReadonlySet<string> | undefined {
  const types = url.searchParams.get("types");
  if (types === null) return undefined;
  if (/^[a-z_]+(?:,[a-z_]+)*$/.test(types)) return new Set([...types.split(","), "reset", "end"]);
  throw createFailure("bad_request", "types must be types of events separated by commas");
}

async function* selectItems(
  batches: AsyncIterable<readonly FeedItem[]>,
  types: ReadonlySet<string>,
): AsyncGenerator<readonly FeedItem[], void> {
  for await (const batch of batches) {
    const selected = batch.filter(({ type }) => types.has(type));
    if (selected.length > 0) yield selected;
  }
}
