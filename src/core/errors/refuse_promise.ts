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

/** Maximum number of objects that are searched for promises. */
const MAX_OBJECTS = 10_000;

/** Ignores rejections of a promise, or of the promises in a value, since they would end the process. Never throws. */
export function ignoreRejections(root: unknown): void {
  const values = new Set([root]);
  for (const value of values) {
    try {
      // Some objects with a `then` call both functions.
      if (isThenable(value)) value.then(() => {}, () => {});
      else if (isObject(value) && !ArrayBuffer.isView(value) && values.size < MAX_OBJECTS) {
        for (const member of Object.values(value)) if (isObject(member)) values.add(member);
      }
    } catch {
      // The promises of a value that cannot be read are not known.
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether a value is a promise, or behaves like one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value &&
    typeof value.then === "function";
}
