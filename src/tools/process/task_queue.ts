/**
 * A limit on tasks that run at the same time.
 *
 * @module
 */

/** Runs tasks in order, at most a number of them at the same time. */
export class TaskQueue {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  /** Creates a queue that runs `limit` tasks at the same time. */
  constructor(limit: number) {
    this.#free = limit;
  }

  /** Runs a task when one of the running ones has settled; rejects with the reason of the abort that comes first. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener("abort", cancel);
        resolve();
      };
      const cancel = () => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(signal.reason);
      };
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener("abort", cancel, { once: true });
      this.#waiting.push(start);
    });
  }
}
