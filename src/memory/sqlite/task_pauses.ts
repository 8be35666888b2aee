/**
 * Pauses between calls that block the thread.
 *
 * A promise that is awaited lets no timer, no stream and no other event of the program run, if nothing else takes time. A
 * series of calls of SQLite, such as the deletion of many sessions, would therefore block the event loop as one call does.
 *
 * @module
 */

import { runOtherTasks } from "../store/run_other_tasks.ts";

/** Time for which calls block the thread before other tasks run, in milliseconds; a single call may take longer. */
const MAX_BLOCKED_MS = 20;

/** Lets other tasks run between calls. */
export class TaskPauses {
  readonly #now: () => number;
  #blockedMs = 0;
  #pause: Promise<void> | undefined;

  /** Creates the pauses of a series of calls; `now` returns a time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether other tasks have to run before the next call. */
  get isDue(): boolean {
    return this.#pause !== undefined || this.#blockedMs > MAX_BLOCKED_MS;
  }

  /** Resolves when other tasks have run. */
  pause(): Promise<void> {
    this.#pause ??= this.#runOtherTasks();
    return this.#pause;
  }

  /** Calls a function that blocks the thread. */
  run<Value>(act: () => Value): Value {
    const start = this.#now();
    try {
      return act();
    } finally {
      this.#blockedMs += this.#now() - start;
    }
  }

  async #runOtherTasks(): Promise<void> {
    await runOtherTasks();
    this.#blockedMs = 0;
    this.#pause = undefined;
  }
}
