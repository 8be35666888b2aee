/**
 * Decisions of an application about the bearer token of a request.
 *
 * @module
 */

import { abortable } from "../ports/abortable.ts";
import type { Clock } from "../ports/ports.ts";
import { startTimer } from "../ports/start_timer.ts";

/** Options for `checkToken()`. */
export interface TokenCheckOptions<Decision> {
  /** The application's decision about the token, which is empty for a request without one. */
  readonly decide: (token: string, request: Request) => Decision | Promise<Decision>;
  /** Maximum time for the decision, in milliseconds. */
  readonly timeoutMs: number;
  /** Timers. */
  readonly clock: Clock;
}

/** Returns the decision about the bearer token of a request; rejects if it fails or takes too long. */
export async function checkToken<Decision>(
  request: Request,
  { decide, timeoutMs, clock }: TokenCheckOptions<Decision>,
): Promise<Decision> {
  const header = request.headers.get("authorization") ?? "";
  const [, token = ""] = /^Bearer +(\S+) *$/i.exec(header) ?? [];
  const timeout = new AbortController();
  const stopTimer = startTimer(clock, timeoutMs, () => {
    timeout.abort(new Error(`The decision about the token took longer than ${timeoutMs} ms`));
  });
  try {
    return await abortable(Promise.resolve(decide(token, request)), timeout.signal);
  } finally {
    stopTimer();
  }
}
