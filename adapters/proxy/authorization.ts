/**
 * Who may ask a proxy.
 *
 * @module
 */

import { createBadRequest, type Rejection } from "./rejection.ts";

/** Says whether a caller may ask. */
export type Authorize = (token: string, request: Request) => boolean | Promise<boolean>;

/** What a server tells of a connection beside its request, as `Deno.serve` does. */
export interface ProxyConnection {
  /** The address of whoever is connected. */
  readonly remoteAddr?: unknown;
}

/** Who is asking, and who decides about it. */
export interface CallerContext {
  /** What the server tells of the connection. */
  readonly connection: ProxyConnection | undefined;
  /** The host's own decision. */
  readonly authorize: Authorize | undefined;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i;

/** Says why a request is refused by its head alone. */
export function checkRequestHead({ method, headers }: Request): Rejection | undefined {
  if (method !== "POST") return createBadRequest(405, "The proxy takes POST requests only");
  // Web pages can send JSON only after they have asked, and the proxy gives them no leave.
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) {
    return createBadRequest(415, "The body must be JSON, and the content-type application/json");
  }
  return undefined;
}

/** Says why a caller is refused; whatever goes wrong while that is decided refuses as well. */
export async function checkAuthorization(
  request: Request,
  { connection, authorize }: CallerContext,
): Promise<Rejection | undefined> {
  if (authorize === undefined) return rejectUnauthorized(request, connection);
  try {
    if (await authorize(getBearerToken(request), request) === true) return undefined;
  } catch {
    // What it says may hold a secret, and is not for the caller.
    const message = "The proxy could not check the token: try again later";
    return { status: 503, code: "network_error", message };
  }
  return { status: 401, code: "auth_error", message: "The proxy does not accept this token" };
}

/** The bearer token; empty when there is none. */
function getBearerToken({ headers }: Request): string {
  return /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1] ?? "";
}

/** The address has to be local, and the name that was called as well: a web page can make any name lead here. */
function rejectUnauthorized(
  { url }: Request,
  connection: ProxyConnection | undefined,
): Rejection | undefined {
  const isLocal = LOOPBACK.test(getHostname(connection?.remoteAddr));
  if (isLocal && LOOPBACK.test(new URL(url).hostname)) return undefined;
  const message = "The proxy serves its own machine only: give serveProxy an authorize";
  return { status: 401, code: "auth_error", message };
}

function getHostname(address: unknown): string {
  if (typeof address !== "object" || address === null || !("hostname" in address)) return "";
  return typeof address.hostname === "string" ? address.hostname : "";
}
