/**
 * Promises that reject when a signal aborts.
 *
 * @module
 */

/**
 * Settles like the promise, or rejects with the signal's reason as soon as the signal aborts. A later rejection of the
 * promise is handled and ignored.
 */
export function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
