/**
 * Determines the caller of a request.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { checkToken } from "../../core/servers/check_token.ts";
import { isLocalCaller } from "../../core/servers/local_caller.ts";
import { createFailure, RequestFailure } from "../http/problem.ts";
import type { Authenticate, Caller, Connection } from "./caller.ts";

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

/** Returns the caller of a request; throws a `RequestFailure` for one that is not accepted. */
export async function authenticateRequest(
  request: Request,
  { authenticate, connection, timeoutMs, clock }: AuthenticationOptions,
): Promise<Caller> {
  if (authenticate === undefined) return acceptLocal(request, connection);
  const decision = checkToken(request, { decide: authenticate, timeoutMs, clock });
  const caller = await decision.catch((cause: unknown) => {
    // The error may contain a secret and must not reach the caller.
    throw new RequestFailure({
      code: "authentication_failed",
      message: "The token could not be checked: try again later",
      retryAfterMs: 1000,
    }, { cause });
  });
  if (isJsonObject(caller)) return caller;
  throw createUnauthorized(
    "Send a valid token in the header Authorization: Bearer TOKEN",
  );
}

function acceptLocal(request: Request, connection: Connection | undefined): Caller {
  if (isLocalCaller(request, connection)) return { mayReadMetrics: true };
  throw createUnauthorized(
    "Without authentication the server accepts callers on the same machine only",
  );
}

function createUnauthorized(message: string): Error {
  return createFailure("unauthorized", message, { headers: { "www-authenticate": "Bearer" } });
}
