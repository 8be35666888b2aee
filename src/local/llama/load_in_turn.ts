/**
 * Loads of models one after the other.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import { createDeferred } from "../../core/deferred.ts";
import type { LlamaPackage } from "./llama_runtime.ts";

/** Settles when all loads of a package have ended. */
const loads = new WeakMap<LlamaPackage, Promise<unknown>>();

/**
 * Calls a function that loads a model after the earlier loads have ended, so that each one sees the memory that the others
 * have taken.
 */
export async function loadInTurn<Loaded>(
  llamaPackage: LlamaPackage,
  signal: AbortSignal,
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  const previous = loads.get(llamaPackage) ?? Promise.resolve();
  const turn = createDeferred<void>();
  // After an abort, the next load still waits for the earlier ones.
  loads.set(llamaPackage, Promise.all([previous, turn.promise]));
  try {
    await abortable(previous, signal);
    return await load();
  } finally {
    turn.resolve();
  }
}
