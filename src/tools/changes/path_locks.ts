/**
 * Locks by path, so that concurrent edits of a file do not overwrite each other.
 *
 * @module
 */

import { createDeferred } from "../../core/ports/deferred.ts";

/** Runs tasks of the same path in sequence and tasks of different paths concurrently. */
export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `task` after all earlier tasks of the path have settled. */
  async run<T>(path: string, task: () => Promise<T>): Promise<T> {
    const previous = this.#tails.get(path);
    const { promise, resolve } = createDeferred();
    this.#tails.set(path, promise);
    try {
      await previous;
      return await task();
    } finally {
      resolve();
      if (this.#tails.get(path) === promise) this.#tails.delete(path);
    }
  }
}
