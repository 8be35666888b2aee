/**
 * Promises that are settled from outside.
 *
 * @module
 */

/** A promise with the functions that settle it. */
export interface Deferred<Value> {
  /** The promise. */
  readonly promise: Promise<Value>;
  /** Resolves the promise. */
  readonly resolve: (value: Value | PromiseLike<Value>) => void;
  /** Rejects the promise. */
  readonly reject: (reason: unknown) => void;
}

/** Creates a promise with the functions that settle it; Node 20 has no `Promise.withResolvers()`. */
export function createDeferred<Value = void>(): Deferred<Value> {
  let resolve: Deferred<Value>["resolve"] = () => {};
  let reject: Deferred<Value>["reject"] = () => {};
  const promise = new Promise<Value>((onResolved, onRejected) => {
    resolve = onResolved;
    reject = onRejected;
  });
  return { promise, resolve, reject };
}
