/**
 * Determines the caller of a request.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import { isJsonObject } from "../../core/json.ts";
import type { Clock } from "../../core/ports.ts";
import { fail } from "../http/problem.ts";
import { startTimer } from "../http/start_timer.ts";
import type { Authenticate, Caller, Connection } from "./caller.ts";
import { isLoopbackConnection } from "./loopback.ts";

/** Options for {@linkcode authenticateRequest}. */
export interface AuthenticationOptions {
  /** The decision of the application. Default: only callers on this machine are accepted. */
  readonly authenticate: Authenticate | undefined;
  /** Connection information of the server. */
  readonly connection: Connection | undefined;
  /** Maximum time for the decision, in milliseconds. */
  readonly timeoutMs: number;
  /** Timers. */
  readonly clock: Clock;
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

/** Returns the caller of a request; throws a `RequestFailure` for one that is not accepted. */
export async function authenticateRequest(
  request: Request,
  { authenticate, connection, timeoutMs, clock }: AuthenticationOptions,
): Promise<Caller> {
  if (authenticate === undefined) return acceptLocal(request, connection);
  const header = request.headers.get("authorization") ?? "";
  const [, token = ""] = /^Bearer +(\S+) *$/i.exec(header) ?? [];
  const caller = await decide(() => authenticate(token, request), { timeoutMs, clock });
  if (isJsonObject(caller)) return caller;
  throw createUnauthorized(
    "Send a valid token in the header Authorization: Bearer TOKEN",
  );
}

/** Calls the application; throws a `RequestFailure` when it fails or does not decide in time. */
async function decide(
  authenticate: () => ReturnType<Authenticate>,
  { timeoutMs, clock }: Pick<AuthenticationOptions, "timeoutMs" | "clock">,
): Promise<Caller | undefined> {
  const timeout = new AbortController();
  const stopTimer = startTimer(clock, timeoutMs, () => timeout.abort());
  try {
    return await abortable(Promise.resolve(authenticate()), timeout.signal);
  } catch {
    // The error may contain a secret and must not reach the caller.
    throw fail("authentication_failed", "The token could not be checked: try again later", {
      retryAfterMs: 1000,
    });
  } finally {
    stopTimer();
  }
}

function acceptLocal({ headers }: Request, connection: Connection | undefined): Caller {
  const isForwarded = FORWARDING_HEADERS.some((name) => headers.has(name));
  if (isLoopbackConnection(connection) && !isForwarded) return { mayReadMetrics: true };
  throw createUnauthorized(
    "Without authentication the server accepts callers on the same machine only",
  );
}

function createUnauthorized(message: string): Error {
  return fail("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}
