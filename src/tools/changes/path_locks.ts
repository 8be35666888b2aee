/**
 * One at a time per path: two edits of one file never lose each other's work.
 *
 * @module
 */

/** Runs tasks of the same path one after the other, tasks of different paths together. */
export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `task` when every earlier task of this path has ended. */
  async run<T>(path: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(path);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tails.set(path, promise);
    try {
      await before;
      return await task();
    } finally {
      resolve();
      if (this.#tails.get(path) === promise) this.#tails.delete(path);
    }
  }
}
