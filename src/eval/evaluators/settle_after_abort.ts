/**
 * Waits that an abort ends, with time to clean up.
 *
 * @module
 */

import { createDeferred } from "../../core/ports/deferred.ts";

/** Time after an abort in which agents and evaluators can end their processes. */
const GRACE_MS = 1_000;

/**
 * Settles like the promise. After an abort it is awaited for at most one second; then this rejects with the reason of the
 * signal, and a later rejection of the promise is ignored.
 */
export async function settleAfterAbort<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const { promise: abandoned, reject } = createDeferred<never>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => {
    timer = setTimeout(() => reject(signal.reason), GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, abandoned]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
