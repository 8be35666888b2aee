/**
 * Runs the tasks of a key one after the other.
 *
 * @module
 */

/** A queue for each key. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs a task when the earlier ones of its key have settled. */
  run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(key);
    const result = previous ? previous.then(task) : task();
    const settled = result.catch(() => {});
    this.#last.set(key, settled);
    void settled.then(() => {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return result;
  }
}
