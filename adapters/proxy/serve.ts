/**
 * The proxy's end: HTTP requests become model calls.
 *
 * @module
 */

import type { StreamFn } from "../../src/core/stream.ts";
import { type Clock, systemClock } from "../../src/core/ports.ts";
import {
  type Authorize,
  checkAuthorization,
  checkRequestHead,
  type ProxyConnection,
} from "./authorization.ts";
import { createEventBody } from "./event_body.ts";
import { createBadRequest, type Rejection, toResponse } from "./rejection.ts";
import { readBody } from "./request_body.ts";
import { parseProxyRequest } from "./request_parser.ts";

export type { Authorize, ProxyConnection } from "./authorization.ts";

/** Options of {@linkcode serveProxy}. */
export interface ServeProxyOptions {
  /**
   * Says whether a caller may ask, by their bearer token (empty when they sent none) or anything else of the request's
   * head. Only `true` lets them in. Default: nobody but callers on the same machine, as far as the server tells.
   */
  readonly authorize?: Authorize | undefined;
  /** Most bytes of a request's body. Default: 33,554,432 (32 MB). */
  readonly maxBodyBytes?: number | undefined;
  /** After how much silence a comment keeps the connection open, in milliseconds. Default: 15,000. */
  readonly keepAliveMs?: number | undefined;
  /** Port: time and timers. Default: the runtime's. */
  readonly clock?: Clock | undefined;
}

/** Answers a request; `connection` is what `Deno.serve` tells beside it. It never rejects. */
export type ProxyHandler = (request: Request, connection?: ProxyConnection) => Promise<Response>;

const EVENT_STREAM = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Or nginx collects the events instead of passing them on.
  "x-accel-buffering": "no",
};

/**
 * Makes a handler that lets agents with {@linkcode createProxy} ask models through this process, which has the keys.
 *
 * Whoever may ask spends the money behind those keys, so without `authorize` only callers on the same machine are
 * served; everyone else is refused, and so is everyone when `authorize` fails. A caller who leaves aborts the call.
 *
 * @example
 * ```ts ignore
 * import { connect } from "@swink/agent/adapters";
 * import { serveProxy } from "@swink/agent/adapters/proxy";
 *
 * Deno.serve(serveProxy(connect(), { authorize: (token) => tokens.has(token) }));
 * ```
 */
export function serveProxy(streamFn: StreamFn, options: ServeProxyOptions = {}): ProxyHandler {
  const { maxBodyBytes = 32 * 1024 * 1024, keepAliveMs = 15_000, clock = systemClock } = options;
  return async (request, connection) => {
    const refusal = checkRequestHead(request) ??
      await checkAuthorization(request, { connection, authorize: options.authorize });
    if (refusal) return await rejectRequest(request, refusal);
    const body = await readBody(request, maxBodyBytes);
    if (body.type === "refused") return await rejectRequest(request, body.refusal);
    const read = parseProxyRequest(body.text);
    if (read.type === "problem") return toResponse(createBadRequest(400, read.problem));
    const events = createEventBody({ streamFn, request: read.request, keepAliveMs, clock });
    return new Response(events, { headers: EVENT_STREAM });
  };
}

/** What is left of a refused request's body is not waited for. */
async function rejectRequest(request: Request, refusal: Rejection): Promise<Response> {
  await request.body?.cancel().catch(() => {});
  return toResponse(refusal);
}
