/**
 * The first request of a run, which nothing else may delay.
 *
 * @module
 */

import type { Host } from "../host/host.ts";

/** Time after which a request counts as sent, in milliseconds: a connection with TLS takes several round trips. */
const SENT_MS = 100;

/** `fetch`, and when its first request has been sent. */
export interface ObservedFetch {
  /** Sends requests. */
  readonly fetch: Host["fetch"];
  /** Resolves when the first request has been sent, or has failed. */
  readonly firstRequest: Promise<void>;
}

/**
 * Observes the first request. The runtime connects and sends between other work of the same thread, so modules that are
 * loaded meanwhile delay the request. It counts as sent when its response arrives, or else after a time in which most
 * connections are established.
 */
export function observeFirstRequest(fetch: Host["fetch"], sentMs = SENT_MS): ObservedFetch {
  const { promise: firstRequest, resolve } = Promise.withResolvers<void>();
  let isFirst = true;
  return {
    firstRequest,
    fetch(...request) {
      const response = fetch(...request);
      if (isFirst) resolve(untilSettled(response, sentMs));
      isFirst = false;
      return response;
    },
  };
}

/** Waits until a promise is settled, and at most a number of milliseconds. */
async function untilSettled(promise: Promise<unknown>, maximumMs: number): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  // Not with setTimeout(), whose first call takes 5 ms on Deno.
  AbortSignal.timeout(maximumMs).addEventListener("abort", () => resolve());
  await Promise.race([promise.then(() => {}, () => {}), timeout]);
}
