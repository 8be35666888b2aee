/**
 * Refuses promises from callbacks that must be synchronous.
 *
 * @module
 */

/**
 * Throws if a callback returned a promise; a rejection of the promise is ignored.
 *
 * @throws {TypeError} If the value is a promise.
 */
export function refusePromise(value: unknown, callback: string): void {
  if (!isThenable(value)) return;
  // Some objects with a `then` call both functions.
  value.then(() => {}, () => {});
  throw new TypeError(`${callback} returned a promise: it must return its value directly`);
}

/** Whether a value is a promise, or behaves like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}
