/**
 * Decides which callers may use a proxy.
 *
 * @module
 */

import type { Clock } from "../../src/core/ports/ports.ts";
import { checkToken } from "../../src/core/servers/check_token.ts";
import { isLocalCaller, isLoopbackName } from "../../src/core/servers/local_caller.ts";
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

/**
 * Returns the reason for rejecting a caller, also when `authorize` fails or does not settle in time; `undefined` if the
 * caller is authorized.
 */
export async function checkAuthorization(
  request: Request,
  { connection, authorize, timeoutMs, clock }: AuthorizationOptions,
): Promise<Rejection | undefined> {
  if (authorize === undefined) return rejectUnauthorized(request, connection);
  try {
    if (await checkToken(request, { decide: authorize, timeoutMs, clock }) === true) {
      return undefined;
    }
  } catch {
    // The error may contain a secret and must not reach the caller.
    const message = "The proxy could not check the token; try again later";
    return { status: 503, code: "network_error", message };
  }
  return { status: 401, code: "auth_error", message: "The proxy does not accept this token" };
}

/** Rejects all but local callers. The URL has to be local too: any web page can let its own name point here. */
function rejectUnauthorized(
  request: Request,
  connection: ProxyConnection | undefined,
): Rejection | undefined {
  const isLocalName = isLoopbackName(new URL(request.url).hostname);
  if (isLocalName && isLocalCaller(request, connection)) return undefined;
  const message = "The proxy accepts local callers only: pass authorize to serveProxy() for others";
  return { status: 401, code: "auth_error", message };
}
