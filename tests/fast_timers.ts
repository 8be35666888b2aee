/**
 * Timers that pass sooner, for tests of long limits in which processes take part.
 *
 * @module
 */

/** Divides the time of timers that are set from now on, until it is disposed. */
export function speedUpTimers(rate: number): Disposable {
  const { setTimeout } = globalThis;
  const setFasterTimeout = (
    callback: (...args: unknown[]) => void,
    delay = 0,
    ...args: unknown[]
  ) => setTimeout(callback, delay / rate, ...args);
  Object.assign(globalThis, { setTimeout: setFasterTimeout });
  return { [Symbol.dispose]: () => void Object.assign(globalThis, { setTimeout }) };
}
