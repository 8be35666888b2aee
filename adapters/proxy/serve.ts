/**
 * The server side of the proxy: HTTP requests become model calls.
 *
 * @module
 */

import { BadRequestError } from "../../src/core/errors/errors.ts";
import { type Clock, systemClock } from "../../src/core/ports/ports.ts";
import type { StreamFn } from "../../src/core/streams/stream.ts";
import { checkAdapterOptions, refuseUnknownOptions } from "../kit/options/check_options.ts";
import { type Authorize, checkAuthorization, type ProxyConnection } from "./authorization.ts";
import { type Rejection, toResponse } from "./errors.ts";
import { createEventBody } from "./event_body.ts";

export type { Authorize, ProxyConnection } from "./authorization.ts";

/** Options for {@linkcode serveProxy}. */
export interface ServeProxyOptions {
  /**
   * Decides whether a caller may use the proxy, by the bearer token (empty if there is none) or other headers of the
   * request; only `true` allows it. Default: callers on the same machine, as far as the server reports addresses and the
   * request was not forwarded by a reverse proxy.
   */
  readonly authorize?: Authorize | undefined;
  /** Maximum time for `authorize` to settle, in milliseconds; then the caller gets 503. Default: 30,000. */
  readonly authorizeTimeoutMs?: number | undefined;
  /** Maximum size of a request body in bytes. Default: 33,554,432 (32 MB). */
  readonly maxBodyBytes?: number | undefined;
  /** Maximum time to receive the body of a request, in milliseconds. Default: 60,000. */
  readonly bodyTimeoutMs?: number | undefined;
  /** Time without events in milliseconds after which a comment keeps the connection open. Default: 8,000. */
  readonly keepAliveMs?: number | undefined;
  /** Port: time and timers. Default: the runtime's. */
  readonly clock?: Clock | undefined;
}

const OPTION_NAMES = [
  "authorize",
  "authorizeTimeoutMs",
  "maxBodyBytes",
  "bodyTimeoutMs",
  "keepAliveMs",
  "clock",
];

/**
 * Answers a request; `connection` is the second argument of a `Deno.serve` handler, and what other servers pass there is
 * ignored. Never rejects.
 */
export type ProxyHandler = (
  request: Request,
  connection?: ProxyConnection | object,
) => Promise<Response>;

const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  // A server that compresses responses would hold the events back.
  "cache-control": "no-store, no-transform",
  // Turns off buffering in nginx.
  "x-accel-buffering": "no",
};

/**
 * Creates a handler through which agents with `createProxy()` call models; the keys stay in this process.
 *
 * Every call costs money, so without `authorize` only callers on the same machine are served; others get 401, and all
 * callers get 503 when `authorize` fails. The model call is aborted when the caller disconnects.
 *
 * @throws {BadRequestError} If the stream function is none, the options are no object, or one of them is unknown.
 *
 * @example
 * ```ts
 * import { connect } from "@swink/agent/adapters";
 * import { serveProxy } from "@swink/agent/adapters/proxy";
 *
 * const tokens = new Set(["my-token"]);
 * const handler = serveProxy(connect(), { authorize: (token) => tokens.has(token) });
 * const server = Deno.serve({ port: 0, onListen() {} }, handler);
 *
 * await server.shutdown();
 * ```
 */
export function serveProxy(streamFn: StreamFn, options: ServeProxyOptions = {}): ProxyHandler {
  if (typeof streamFn !== "function") {
    throw new BadRequestError("serveProxy() needs a stream function: pass one such as connect()");
  }
  checkAdapterOptions(options);
  refuseUnknownOptions(options, OPTION_NAMES, "serveProxy()");
  // Bun ends connections after ten seconds without data.
  const { keepAliveMs = 8_000, clock = systemClock, authorize } = options;
  const timeoutMs = options.authorizeTimeoutMs ?? 30_000;
  const bodyLimits = {
    maxBytes: options.maxBodyBytes ?? 32 * 1024 * 1024,
    timeoutMs: options.bodyTimeoutMs ?? 60_000,
    clock,
  };
  return async (request, connection) => {
    // Loaded by servers only: programs that use a proxy do not need it.
    const { checkRequestHead, readProxyRequest } = await import("./request.ts");
    const rejection = checkRequestHead(request) ??
      await checkAuthorization(request, { connection, authorize, timeoutMs, clock });
    if (rejection) return await rejectRequest(request, rejection);
    const result = await readProxyRequest(request, bodyLimits);
    if (result.type === "rejected") return await rejectRequest(request, result.rejection);
    const events = createEventBody({ streamFn, request: result.request, keepAliveMs, clock });
    return new Response(events, { headers: EVENT_STREAM_HEADERS });
  };
}

/** Responds without reading the rest of the request's body. */
async function rejectRequest(request: Request, rejection: Rejection): Promise<Response> {
  await request.body?.cancel().catch(() => {});
  return toResponse(rejection);
}
