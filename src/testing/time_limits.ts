/**
 * Time limits for promises of the code under test.
 *
 * @module
 */

import { createDeferred } from "../core/ports/deferred.ts";

/** Rejects with a message if a promise has not settled after a number of milliseconds. */
export async function settleWithin<Value>(
  promise: Promise<Value>,
  milliseconds: number,
  message: string,
): Promise<Value> {
  const { promise: late, reject } = createDeferred<never>();
  const timer = setTimeout(() => reject(new Error(message)), milliseconds);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Rejects with a message if a promise has not settled after a number of turns of the event loop, of at least a
 * millisecond each. On a busy machine the turns take longer, and the code under test has as many of them.
 */
export async function settleInTurns<Value>(
  promise: Promise<Value>,
  turns: number,
  message: string,
): Promise<Value> {
  let isSettled = false;
  const settle = () => void (isSettled = true);
  promise.then(settle, settle);
  for (let turn = 0; turn < turns && !isSettled; turn++) await waitForTurn();
  if (!isSettled) throw new Error(message);
  return await promise;
}

/** Waits for the next turn of the event loop. */
export function waitForTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
