/**
 * Work with llama.cpp that is done one after the other.
 *
 * @module
 */

import { abortable } from "../../core/ports/abortable.ts";
import { createDeferred } from "../../core/ports/deferred.ts";

/** Settles when all work with an object has ended. */
const pending = new WeakMap<object, Promise<unknown>>();

/**
 * Calls a function after the earlier functions with the same owner have ended. An abort ends the wait, and not the function
 * that has been called.
 */
export async function runInTurn<Result>(
  owner: object,
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  const previous = pending.get(owner) ?? Promise.resolve();
  const turn = createDeferred<void>();
  // After an abort, the next function still waits for the earlier ones.
  pending.set(owner, Promise.all([previous, turn.promise]));
  try {
    await abortable(previous, signal);
    return await run();
  } finally {
    turn.resolve();
  }
}
