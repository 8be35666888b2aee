/**
 * One at a time per path: two edits of one file never lose each other's work.
 *
 * @module
 */

/** Runs tasks of the same path one after the other, tasks of different paths together. */
export class PathLocks {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `task` when every earlier task of this path has ended. */
  async run<T>(path: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(path);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(path, promise);
    try {
      await before;
      return await task();
    } finally {
      resolve();
      if (this.#last.get(path) === promise) this.#last.delete(path);
    }
  }
}
