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
  ignoreRejections(value);
  throw new TypeError(`${callback} returned a promise: it must return its value directly`);
}

/** Maximum number of values that are searched for promises. */
const MAX_VALUES = 10_000;

/** Ignores rejections of a promise, or of the promises in a value, since they would end the process. Never throws. */
export function ignoreRejections(root: unknown): void {
  const values = new Set([root]);
  for (const value of values) {
    try {
      // Some objects with a `then` call both functions.
      if (isThenable(value)) value.then(() => {}, () => {});
      else if (isSearchable(value) && values.size < MAX_VALUES) {
        for (const member of Object.values(value)) values.add(member);
      }
    } catch {
      // The promises of a value that cannot be read are not known.
    }
  }
}

function isSearchable(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}

/** Whether a value is a promise, or behaves like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}
