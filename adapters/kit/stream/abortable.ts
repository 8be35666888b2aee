/**
 * Waiting that ends at once when it is called off.
 *
 * @module
 */

/**
 * Settles as the promise does, or rejects with the signal's reason as soon as that aborts. What the promise does
 * afterwards is nobody's concern any more: it never becomes an unhandled rejection.
 */
export function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
