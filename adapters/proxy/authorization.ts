/**
 * Decides which callers may use a proxy.
 *
 * @module
 */

import { abortable } from "../../src/core/abortable.ts";
import type { Clock } from "../../src/core/ports.ts";
import { startTimer } from "../kit/stream/timer.ts";
import type { Rejection } from "./errors.ts";

/** Returns whether a caller may use the proxy; `token` is empty for a caller without one. */
export type Authorize = (token: string, request: Request) => boolean | Promise<boolean>;

/** Connection information that a server passes with a request, as `Deno.serve` does. */
export interface ProxyConnection {
  /** The address of the caller, with a `hostname` for TCP. */
  readonly remoteAddr?: unknown;
}

/** Options for `checkAuthorization()`. */
export interface AuthorizationOptions {
  /** Connection information of the server. Default: none, so that no caller counts as local. */
  readonly connection: ProxyConnection | undefined;
  /** The application's decision. Default: only local callers may use the proxy. */
  readonly authorize: Authorize | undefined;
  /** Maximum time for the decision, in milliseconds. */
  readonly timeoutMs: number;
  /** Time and timers. */
  readonly clock: Clock;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i;

/**
 * Returns the reason for rejecting a caller, also when `authorize` fails or does not settle in time; `undefined` if the
 * caller is authorized.
 */
export async function checkAuthorization(
  request: Request,
  { connection, authorize, timeoutMs, clock }: AuthorizationOptions,
): Promise<Rejection | undefined> {
  if (authorize === undefined) return rejectUnauthorized(request, connection);
  const header = request.headers.get("authorization") ?? "";
  const [, token = ""] = /^Bearer +(\S+) *$/i.exec(header) ?? [];
  const timeout = new AbortController();
  const stopTimer = startTimer(clock, timeoutMs, () => timeout.abort());
  try {
    const decision = abortable(Promise.resolve(authorize(token, request)), timeout.signal);
    if (await decision === true) return undefined;
  } catch {
    // The error may contain a secret and must not reach the caller.
    const message = "The proxy could not check the token; try again later";
    return { status: 503, code: "network_error", message };
  } finally {
    stopTimer();
  }
  return { status: 401, code: "auth_error", message: "The proxy does not accept this token" };
}

/** Headers that reverse proxies add; the caller behind one is not local, although its connection is. */
const FORWARDING_HEADERS = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "cf-connecting-ip",
  "true-client-ip",
];

/** Rejects all but local callers. The URL has to be local too: any web page can let its own name point here. */
function rejectUnauthorized(
  { url, headers }: Request,
  connection: ProxyConnection | undefined,
): Rejection | undefined {
  const isLocal = LOOPBACK.test(getHostname(connection?.remoteAddr));
  const isForwarded = FORWARDING_HEADERS.some((name) => headers.has(name));
  if (isLocal && !isForwarded && LOOPBACK.test(new URL(url).hostname)) return undefined;
  const message = "The proxy accepts local callers only: pass authorize to serveProxy() for others";
  return { status: 401, code: "auth_error", message };
}

function getHostname(address: unknown): string {
  if (typeof address !== "object" || address === null || !("hostname" in address)) return "";
  return typeof address.hostname === "string" ? address.hostname : "";
}
