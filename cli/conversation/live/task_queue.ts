/**
 * Tasks that share something which only one of them can use at a time.
 *
 * @module
 */

/** Runs tasks one after the other. */
export class TaskQueue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task after the earlier ones, also if they have failed. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return await result;
  }
}
